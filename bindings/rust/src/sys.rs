//! The calls of resource_tracker.h that this crate makes. tests/cli/test_bindings.py compares them with the header.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_double, c_int, c_uint};

pub type rt_metric = u32;

/// Objects of the library, which have no members here.
pub enum rt_config {}
pub enum rt_tracker {}
pub enum rt_snapshot {}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rt_value {
    pub r#type: c_uint,
    pub reason: c_int,
    pub real: c_double,
    pub count: i64,
    pub text: *const c_char,
}

#[repr(C)]
pub struct rt_snapshot_entry {
    pub size: usize,
    pub metric: rt_metric,
    pub instance: usize,
    pub key: *const c_char,
    pub value: rt_value,
}

#[repr(C)]
pub struct rt_metric_info {
    pub size: usize,
    pub name: [c_char; 128],
    pub group: [c_char; 64],
    pub key: *const c_char,
    pub unit: *const c_char,
    pub kind: *const c_char,
    pub source: *const c_char,
    pub cost: *const c_char,
    pub help: *const c_char,
    pub r#type: c_uint,
    pub decimals: c_int,
    pub many: bool,
}

#[rustfmt::skip]
extern "C" {
    pub fn rt_version() -> *const c_char;
    pub fn rt_reason(reason: c_int) -> *const c_char;
    pub fn rt_error_text(call: *const c_char, error: c_int) -> *const c_char;
    pub fn rt_config_new(ret_config: *mut *mut rt_config) -> c_int;
    pub fn rt_config_free(config: *mut rt_config);
    pub fn rt_config_set(config: *mut rt_config, name: *const c_char, value: *const c_char) -> c_int;
    pub fn rt_config_set_apart(config: *mut rt_config, apart: bool);
    pub fn rt_config_message(config: *const rt_config) -> *const c_char;
    pub fn rt_open(config: *mut rt_config, ret_tracker: *mut *mut rt_tracker) -> c_int;
    pub fn rt_close(tracker: *mut rt_tracker);
    pub fn rt_start(tracker: *mut rt_tracker) -> c_int;
    pub fn rt_stop(tracker: *mut rt_tracker) -> c_int;
    pub fn rt_sample(tracker: *mut rt_tracker) -> c_int;
    pub fn rt_sample_count(tracker: *mut rt_tracker) -> i64;
    pub fn rt_wait_for_samples(tracker: *mut rt_tracker, n: i64, timeout_secs: c_double) -> c_int;
    pub fn rt_next_warning(tracker: *mut rt_tracker, ret_text: *mut c_char, size: usize) -> c_int;
    pub fn rt_metric_find(name: *const c_char) -> rt_metric;
    pub fn rt_metric_get_info(metric: rt_metric, ret_info: *mut rt_metric_info) -> c_int;
    pub fn rt_snapshot_take(tracker: *mut rt_tracker, ret_snapshot: *mut *mut rt_snapshot) -> c_int;
    pub fn rt_snapshot_free(snapshot: *mut rt_snapshot);
    pub fn rt_snapshot_get(snapshot: *const rt_snapshot, metric: rt_metric, instance: usize, ret_value: *mut rt_value) -> c_int;
    pub fn rt_snapshot_get_named(snapshot: *const rt_snapshot, name: *const c_char, ret_value: *mut rt_value) -> c_int;
    pub fn rt_snapshot_each(snapshot: *const rt_snapshot, entry: *mut rt_snapshot_entry) -> c_int;
}
