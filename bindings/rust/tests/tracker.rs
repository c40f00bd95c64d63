//! The crate, with the library that is linked.
use resource_tracker::{Config, Error, Metric, Result, Snapshot, Tracker, Value};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LIMIT: Option<Duration> = Some(Duration::from_secs(60));
const ENOENT: i32 = 2;
const EINVAL: i32 = 22;
const ENODATA: i32 = 61;
const ESHUTDOWN: i32 = 108;

fn own_process() -> Config {
    let mut config = Config::new().unwrap();
    config.set("pid", std::process::id().to_string()).unwrap().set("interval", "0.01").unwrap();
    config
}

fn error_of<T>(result: Result<T>) -> Error {
    result.map(drop).expect_err("the call has to fail")
}

#[test]
fn a_recording_is_whole() {
    let path = std::env::temp_dir().join(format!("resource-tracker-rust-{}.jsonl", std::process::id()));
    let tracker = own_process().set("output", &path).unwrap().open().unwrap();
    tracker.start().unwrap();
    tracker.wait_for_samples(2, LIMIT).unwrap();
    tracker.stop().unwrap();
    let count = tracker.sample_count();
    drop(tracker);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text.lines().count() as i64, count);
    assert!(text.lines().last().unwrap().contains("\"run_end\":{\"reason\":\"tracker_stopped\""), "{text}");
}

#[test]
fn dropping_a_tracker_ends_its_recording() {
    let path = std::env::temp_dir().join(format!("resource-tracker-drop-{}.jsonl", std::process::id()));
    let tracker = own_process().set("output", &path).unwrap().open().unwrap();
    tracker.start().unwrap();
    drop(tracker);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("\"run_end\":{"), "{text}");
}

#[test]
fn a_snapshot_has_each_kind_of_value_and_outlives_its_tracker() {
    let tracker = own_process().set("job-name", "naïve").unwrap().open().unwrap();
    tracker.sample().unwrap();
    let snapshot = tracker.snapshot().unwrap();
    drop(tracker);
    assert!(matches!(snapshot.get("cpu.process_rss_mib").unwrap(), Value::Real(mib) if mib > 0.5));
    assert!(snapshot.get("sample").unwrap().real().is_some());
    assert!(matches!(snapshot.get("tracker.rss_mib").unwrap(), Value::Real(_) | Value::Unknown(_)));
    let mut kinds = [0; 5];
    for entry in &snapshot {
        assert_eq!(snapshot.at(entry.metric, entry.instance).unwrap(), entry.value);
        assert_eq!(Metric::find(&entry.metric.name()), Some(entry.metric));
        kinds[match &entry.value {
            Value::Real(_) => 0,
            Value::Count(_) => 1,
            Value::Flag(_) => 2,
            Value::Text(text) => {
                assert!(!text.is_empty());
                3
            }
            Value::Unknown(reason) => {
                assert!(!reason.is_empty() && entry.value.real().is_none());
                assert_eq!(entry.value.reason(), Some(&**reason));
                4
            }
        }] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
    assert!((&snapshot).into_iter().any(|entry| entry.value == Value::Text("naïve".into())));
    assert!((&snapshot).into_iter().any(|entry| entry.key.is_some()));
}

#[test]
fn a_failed_call_says_what_to_do() {
    let mut config = Config::new().unwrap();
    let error = error_of(config.set("no-such-setting", "1"));
    assert_eq!((error.call, error.errno), ("rt_config_set", ENOENT));
    assert!(error.to_string().contains("no-such-setting"), "{error}");
    assert_eq!(error_of(config.set("interval", "often")).errno, EINVAL);
    assert_eq!(error_of(config.set("job-name", "a\0b")).errno, EINVAL);
    config.set("pid", "2147483647").unwrap();
    let error = error_of(config.open());
    assert!(error.to_string().contains("2147483647"), "{error}");

    let tracker = own_process().open().unwrap();
    let error = error_of(tracker.snapshot());
    assert_eq!((error.call, error.errno), ("rt_snapshot_take", ENODATA));
    assert!(error.to_string().contains("there is no sample yet"), "{error}");
    tracker.sample().unwrap();
    let snapshot = tracker.snapshot().unwrap();
    let error = error_of(snapshot.get("no.such_metric"));
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    assert_eq!(error_of(snapshot.at(Metric::find("sample").unwrap(), 1)).errno, ENOENT);
    tracker.start().unwrap();
    tracker.stop().unwrap();
    assert_eq!(error_of(tracker.sample()).errno, ESHUTDOWN);
    assert_eq!(error_of(tracker.wait_for_samples(i64::MAX, None)).errno, ESHUTDOWN);
}

#[test]
fn threads_share_a_tracker_and_a_snapshot() {
    fn shared<T: Send + Sync>(_: &T) {}
    let tracker = own_process().open().unwrap();
    tracker.start().unwrap();
    tracker.wait_for_samples(1, LIMIT).unwrap();
    let old = tracker.snapshot().unwrap();
    shared::<Tracker>(&tracker);
    shared::<Snapshot>(&old);
    let number = old.get("sample").unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut last = 0.0;
                while !over.load(Ordering::Relaxed) {
                    let snapshot = tracker.snapshot().unwrap();
                    let sample = snapshot.get("sample").unwrap().real().unwrap();
                    assert!(sample >= last);
                    last = sample;
                    assert!((&snapshot).into_iter().count() > 100);
                    assert_eq!(old.get("sample").unwrap(), number);
                }
            });
        }
        scope.spawn(|| {
            let ended = tracker.wait_for_samples(10, LIMIT);
            over.store(true, Ordering::Relaxed);
            ended.unwrap();
        });
    });
    tracker.stop().unwrap();
}

#[test]
fn metrics_have_units() {
    let used = Metric::find("memory.used_mib").unwrap();
    assert_eq!((&*used.name(), &*used.unit()), ("memory.used_mib", "MiB"));
    assert_eq!(Metric::find("no.such_metric"), None);
    assert!(resource_tracker::version().starts_with(env!("CARGO_PKG_VERSION")));
}
