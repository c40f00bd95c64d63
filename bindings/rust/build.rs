//! Finds libresource-tracker by pkg-config. With RESOURCE_TRACKER_STATIC=1 the program carries it.
use std::env;
use std::process::Command;

fn main() {
    for name in ["PKG_CONFIG_PATH", "RESOURCE_TRACKER_STATIC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let carried = env::var("RESOURCE_TRACKER_STATIC").map_or(false, |text| text == "1");
    let done = Command::new("pkg-config").args(["--libs", "resource-tracker"]).output();
    let done = done.expect("pkg-config cannot be started: install it");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for flag in String::from_utf8_lossy(&done.stdout).split_whitespace() {
        match (flag.get(..2), flag.get(2..)) {
            (Some("-L"), Some(folder)) => println!("cargo:rustc-link-search=native={folder}"),
            (Some("-l"), Some(name)) if carried => println!("cargo:rustc-link-lib=static={name}"),
            (Some("-l"), Some(name)) => println!("cargo:rustc-link-lib={name}"),
            _ => println!("cargo:rustc-link-arg={flag}"),
        }
    }
}
