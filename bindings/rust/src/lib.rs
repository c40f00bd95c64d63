//! Records what a process tree and its machine use, by the C library resource-tracker (Linux).
//!
//! ```no_run
//! # fn work() {}
//! let mut config = resource_tracker::Config::new()?;
//! config.set("pid", std::process::id().to_string())?.set("output", "run.jsonl")?;
//! let tracker = config.open()?;
//! tracker.start()?;
//! work();
//! tracker.stop()?;
//! println!("{:?}", tracker.snapshot()?.get("cpu.process_cores_used")?.real());
//! # Ok::<(), resource_tracker::Error>(())
//! ```
//!
//! An absent value is [`Value::Unknown`] with its reason, never 0. Each object frees itself. Values borrow from their snapshot, so none
//! outlives it. A [`Config`] is `Send`: one thread at a time. [`Tracker`] and [`Snapshot`] are `Send` and `Sync`.
//!
//! A child of fork(2) cannot use the parent's tracker: calls fail with ECHILD. [`Config::open`] reads the
//! environment, so no other thread may call `std::env::set_var` meanwhile, as that function demands.
mod sys;

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// A call that failed: its name, the errno, and one line with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    pub call: &'static str,
    /// Positive, as in errno.h. The header says what it means for the call.
    pub errno: i32,
    pub text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        io::Error::new(io::Error::from_raw_os_error(error.errno).kind(), error)
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// Safety: `text` is a string that lives for 'a.
unsafe fn text_at<'a>(text: *const c_char) -> Cow<'a, str> {
    CStr::from_ptr(text).to_string_lossy()
}

fn check(call: &'static str, result: c_int) -> Result<()> {
    if result >= 0 {
        return Ok(());
    }
    let name = c_text(call)?;
    let text = unsafe { text_at(sys::rt_error_text(name.as_ptr(), result)) }.into_owned();
    Err(Error { call, errno: -result, text })
}

fn c_text(text: impl AsRef<OsStr>) -> Result<CString> {
    CString::new(text.as_ref().as_bytes()).map_err(|_| Error {
        call: "CString::new",
        errno: 22, // EINVAL,
        text: "a text has a byte of value 0: leave it out".to_string(),
    })
}

/// The version of the loaded library: "0.1.0".
pub fn version() -> Cow<'static, str> {
    unsafe { text_at(sys::rt_version()) }
}

/// An object of the library: it is freed once, and threads may have it as the header says.
macro_rules! owned {
    ($name:ident, $free:ident, $($of_threads:ident)*) => {
        $(unsafe impl $of_threads for $name {})*
        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { sys::$free(self.0) }
            }
        }
    };
}

/// Settings by name: the long options of the command without the leading dashes.
#[derive(Debug)]
pub struct Config(*mut sys::rt_config);

owned!(Config, rt_config_free, Send);

impl Config {
    pub fn new() -> Result<Self> {
        let mut config = null_mut();
        check("rt_config_new", unsafe { sys::rt_config_new(&mut config) })?;
        Ok(Config(config))
    }

    /// The message of the library names the setting, file or process, where it has one.
    fn check(&self, call: &'static str, result: c_int) -> Result<()> {
        check(call, result).map_err(|error| {
            let message = unsafe { text_at(sys::rt_config_message(self.0)) };
            Error { text: if message.is_empty() { error.text } else { message.into_owned() }, ..error }
        })
    }

    /// Sets a setting, or adds a value to one that may be given several times ("output", "tag").
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) -> Result<&mut Self> {
        let (name, value) = (c_text(name)?, c_text(value)?);
        self.check("rt_config_set", unsafe { sys::rt_config_set(self.0, name.as_ptr(), value.as_ptr()) })?;
        Ok(self)
    }

    /// Lets another process record, which finishes the recording however this one dies.
    pub fn set_apart(&mut self, apart: bool) -> &mut Self {
        unsafe { sys::rt_config_set_apart(self.0, apart) };
        self
    }

    /// The settings are copied: the same ones may open another tracker.
    pub fn open(&mut self) -> Result<Tracker> {
        let mut tracker = null_mut();
        self.check("rt_open", unsafe { sys::rt_open(self.0, &mut tracker) })?;
        Ok(Tracker(tracker))
    }
}

/// A recording. Dropping it finishes the recording if that has not ended. Threads may share it: each call takes the library's lock.
#[derive(Debug)]
pub struct Tracker(*mut sys::rt_tracker);

owned!(Tracker, rt_close, Send Sync);

impl Tracker {
    /// Samples at the interval, in a thread of the library.
    pub fn start(&self) -> Result<()> {
        check("rt_start", unsafe { sys::rt_start(self.0) })
    }

    /// Takes the last sample and ends the thread.
    pub fn stop(&self) -> Result<()> {
        check("rt_stop", unsafe { sys::rt_stop(self.0) })
    }

    /// Takes a sample now, without a thread.
    pub fn sample(&self) -> Result<()> {
        check("rt_sample", unsafe { sys::rt_sample(self.0) })
    }

    pub fn sample_count(&self) -> i64 {
        unsafe { sys::rt_sample_count(self.0) }
    }

    /// Waits until n samples were taken. `None`: without a limit.
    pub fn wait_for_samples(&self, n: i64, timeout: Option<Duration>) -> Result<()> {
        let secs = timeout.map_or(-1.0, |limit| limit.as_secs_f64());
        check("rt_wait_for_samples", unsafe { sys::rt_wait_for_samples(self.0, n, secs) })
    }

    /// All values of the newest sample.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = null_mut();
        check("rt_snapshot_take", unsafe { sys::rt_snapshot_take(self.0, &mut snapshot) })?;
        Ok(Snapshot(snapshot))
    }

    /// The oldest warning that was not taken yet.
    pub fn next_warning(&self) -> Option<String> {
        let mut text: [c_char; 512] = [0; 512];
        let error = unsafe { sys::rt_next_warning(self.0, text.as_mut_ptr(), text.len()) };
        (error >= 0).then(|| unsafe { text_at(text.as_ptr()) }.into_owned())
    }
}

/// A value in the unit that its name says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Real(f64),
    Count(i64),
    Flag(bool),
    Text(Cow<'a, str>),
    /// Absent, and why: "permission denied", "no process is tracked", ...
    Unknown(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// Safety: `value` is the library's, and its text lives for 'a.
    unsafe fn of(value: &sys::rt_value) -> Value<'a> {
        match value.r#type {
            1 => Value::Real(value.real),
            2 => Value::Count(value.count),
            3 => Value::Text(text_at(value.text)),
            4 => Value::Flag(value.count != 0),
            _ => Value::Unknown(text_at(sys::rt_reason(value.reason))),
        }
    }

    /// A real number or a count. `None`: unknown, or not a number.
    pub fn real(&self) -> Option<f64> {
        match self {
            Value::Real(real) => Some(*real),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Value::Unknown(reason) => Some(reason),
            _ => None,
        }
    }
}

/// All values of one sample. Other samples and the end of the tracker do not change it.
///
/// ```compile_fail,E0505
/// fn misuse(snapshot: resource_tracker::Snapshot) -> resource_tracker::Result<()> {
///     let value = snapshot.get("job_name")?;
///     drop(snapshot);
///     println!("{value:?}");
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Snapshot(*mut sys::rt_snapshot);

owned!(Snapshot, rt_snapshot_free, Send Sync);

impl Snapshot {
    /// By the full name: "memory.used_mib", "disk[vda].read_bytes_per_sec", "network[sum].rx_bytes_per_sec".
    pub fn get(&self, name: &str) -> Result<Value<'_>> {
        let (name, mut value) = (c_text(name)?, NO_VALUE);
        check("rt_snapshot_get_named", unsafe { sys::rt_snapshot_get_named(self.0, name.as_ptr(), &mut value) })?;
        Ok(unsafe { Value::of(&value) })
    }

    /// By the metric and its instance, which counts from 0; ENOENT past the last one. Faster than by name.
    pub fn at(&self, metric: Metric, instance: usize) -> Result<Value<'_>> {
        let mut value = NO_VALUE;
        check("rt_snapshot_get", unsafe { sys::rt_snapshot_get(self.0, metric.0, instance, &mut value) })?;
        Ok(unsafe { Value::of(&value) })
    }
}

const NO_VALUE: sys::rt_value = sys::rt_value { r#type: 0, reason: 0, real: 0.0, count: 0, text: null() };

/// All values, metric by metric in the order of output, and instance by instance.
impl<'a> IntoIterator for &'a Snapshot {
    type Item = Entry<'a>;
    type IntoIter = Entries<'a>;
    fn into_iter(self) -> Entries<'a> {
        let size = std::mem::size_of::<sys::rt_snapshot_entry>();
        let place = sys::rt_snapshot_entry { size, metric: 0, instance: 0, key: null(), value: NO_VALUE };
        Entries { snapshot: self, place }
    }
}

/// One value of a sample. `key` is the name of its disk, interface, program, ...
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    pub metric: Metric,
    pub instance: usize,
    pub key: Option<Cow<'a, str>>,
    pub value: Value<'a>,
}

pub struct Entries<'a> {
    snapshot: &'a Snapshot,
    place: sys::rt_snapshot_entry,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;
    fn next(&mut self) -> Option<Entry<'a>> {
        let place = &mut self.place;
        (unsafe { sys::rt_snapshot_each(self.snapshot.0, place) } > 0).then(|| Entry {
            metric: Metric(place.metric),
            instance: place.instance,
            key: (!place.key.is_null()).then(|| unsafe { text_at(place.key) }),
            value: unsafe { Value::of(&place.value) },
        })
    }
}

/// A metric of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metric(sys::rt_metric);

impl Metric {
    pub fn find(name: &str) -> Option<Metric> {
        let name = c_text(name).ok()?;
        Some(Metric(unsafe { sys::rt_metric_find(name.as_ptr()) })).filter(|metric| metric.0 != 0)
    }

    /// Its full name.
    pub fn name(&self) -> String {
        unsafe { text_at(self.info().name.as_ptr()) }.into_owned()
    }

    /// "s", "MiB", "bytes", "cores", "%", ... or "".
    pub fn unit(&self) -> Cow<'static, str> {
        unsafe { text_at(self.info().unit) }
    }

    /// The library made this number, so it knows it.
    fn info(&self) -> sys::rt_metric_info {
        let mut info: sys::rt_metric_info = unsafe { std::mem::zeroed() };
        info.size = std::mem::size_of_val(&info);
        let error = unsafe { sys::rt_metric_get_info(self.0, &mut info) };
        assert_eq!(error, 0, "rt_metric_get_info");
        info
    }
}
