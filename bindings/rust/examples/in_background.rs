//! Records this process while it works, and prints some figures: cargo run --example in_background run.jsonl
use resource_tracker::{Config, Value};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: in_background FILE")?;
    let mut config = Config::new()?;
    config.set("pid", std::process::id().to_string())?.set("interval", "0.05")?;
    config.set("job-name", "harmonic series")?.set("output", &path)?;
    let tracker = config.open()?;
    tracker.start()?;
    tracker.wait_for_samples(1, None)?;
    let sum: f64 = (1..50_000_000).map(|i| 1.0 / f64::from(i)).sum();
    tracker.stop()?;
    println!("the sum is {sum:.6}");
    println!("{} samples are in {}", tracker.sample_count(), path.to_string_lossy());
    let snapshot = tracker.snapshot()?;
    for name in ["elapsed_secs", "cpu.process_rss_mib", "cpu.cgroup_usage_secs"] {
        match snapshot.get(name)? {
            Value::Unknown(reason) => println!("{name}: unknown ({reason})"),
            value => println!("{name}: {}", value.real().ok_or("not a number")?),
        }
    }
    Ok(())
}
