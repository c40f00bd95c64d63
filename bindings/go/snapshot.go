package resourcetracker

/*
#include <resource_tracker.h>
#include <stdlib.h>
*/
import "C"

import (
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// Snapshot is all values of one sample. The garbage collector frees it, but does not see how large it is: close it where many are taken.
type Snapshot struct {
	lock   sync.RWMutex
	handle *C.rt_snapshot
}

// Close frees the snapshot. Values that were read of it stay as they are.
func (s *Snapshot) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.handle == nil {
		return os.ErrClosed
	}
	C.rt_snapshot_free(s.handle)
	s.handle = nil
	runtime.SetFinalizer(s, nil)
	return nil
}

// Kind is the type of a value.
type Kind int

// The kinds of values.
const (
	Unknown Kind = C.RT_TYPE_NONE
	Real    Kind = C.RT_TYPE_REAL
	Count   Kind = C.RT_TYPE_COUNT
	Text    Kind = C.RT_TYPE_TEXT
	Flag    Kind = C.RT_TYPE_FLAG
)

// Value is one value in the unit that its name says.
type Value struct {
	kind  Kind
	real  float64
	count int64
	text  string // or the reason
}

// Kind is Unknown if the value is absent.
func (v Value) Kind() Kind { return v.kind }

// Reason says why an absent value is absent: "permission denied", "no process is tracked", ... "" if it is there.
func (v Value) Reason() string {
	if v.kind == Unknown {
		return v.text
	}
	return ""
}

// Number is a real number or a count; false: unknown, or not a number.
func (v Value) Number() (float64, bool) {
	if v.kind == Count {
		return float64(v.count), true
	}
	return v.real, v.kind == Real
}

// Any is a float64, int64, string or bool; nil: unknown.
func (v Value) Any() any {
	switch v.kind {
	case Real:
		return v.real
	case Count:
		return v.count
	case Text:
		return v.text
	case Flag:
		return v.count != 0
	}
	return nil
}

func valueOf(value *C.struct_rt_value) Value {
	copied := Value{kind: Kind(value._type), real: float64(value.real), count: int64(value.count)}
	switch copied.kind {
	case Real, Count, Flag:
	case Text:
		copied.text = C.GoString(value.text)
	default:
		copied = Value{text: C.GoString(C.rt_reason(value.reason))}
	}
	return copied
}

// read takes the value while the snapshot cannot be closed: its texts are of the snapshot.
func (s *Snapshot) read(name string, function func(*C.rt_snapshot, *C.struct_rt_value) C.int) (Value, error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	if s.handle == nil {
		return Value{text: "the snapshot is closed"}, os.ErrClosed
	}
	var value C.struct_rt_value
	if err := failure(name, function(s.handle, &value)); err != nil {
		return Value{text: err.Error()}, err
	}
	return valueOf(&value), nil
}

// Get finds a value by its full name: "memory.used_mib", "disk[vda].read_bytes_per_sec", "network[sum].rx_bytes_per_sec".
func (s *Snapshot) Get(name string) (Value, error) {
	text := nameText(name)
	defer C.free(unsafe.Pointer(text))
	return s.read("rt_snapshot_get_named", func(handle *C.rt_snapshot, value *C.struct_rt_value) C.int {
		return C.rt_snapshot_get_named(handle, text, value)
	})
}

// At finds a value by its metric and instance, which counts from 0: ENOENT past the last one. It is faster than Get.
func (s *Snapshot) At(metric Metric, instance int) (Value, error) {
	return s.read("rt_snapshot_get", func(handle *C.rt_snapshot, value *C.struct_rt_value) C.int {
		return C.rt_snapshot_get(handle, C.rt_metric(metric), C.size_t(instance), value)
	})
}

// Entry is one value of a sample. Key is the name of its disk, interface, program, ... or "".
type Entry struct {
	Metric   Metric
	Instance int
	Key      string
	Value    Value
}

func (s *Snapshot) next(place *C.struct_rt_snapshot_entry) (entry Entry, found bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	if s.handle == nil || C.rt_snapshot_each(s.handle, place) <= 0 {
		return entry, false
	}
	return Entry{Metric(place.metric), int(place.instance), C.GoString(place.key), valueOf(&place.value)}, true
}

// Each calls yield for all values, metric by metric in the order of output, and instance by instance, until it returns false. A program
// in Go 1.23 writes: for entry := range snapshot.Each. After Close there are none.
func (s *Snapshot) Each(yield func(Entry) bool) {
	place := C.struct_rt_snapshot_entry{size: C.sizeof_struct_rt_snapshot_entry}
	for {
		entry, found := s.next(&place)
		if !found || !yield(entry) {
			return
		}
	}
}

// Metric is the number of a metric in this build of the library. 0 is none.
type Metric uint32

// Find finds a metric by its full name; false: unknown.
func Find(name string) (Metric, bool) {
	text := nameText(name)
	defer C.free(unsafe.Pointer(text))
	metric := Metric(C.rt_metric_find(text))
	return metric, metric != 0
}

func (m Metric) info() (info C.struct_rt_metric_info) {
	info.size = C.sizeof_struct_rt_metric_info
	C.rt_metric_get_info(C.rt_metric(m), &info)
	return info
}

// Name is the full name, or "" if there is no such metric.
func (m Metric) Name() string {
	info := m.info()
	return C.GoString(&info.name[0])
}

// Unit is "s", "MiB", "bytes", "cores", "%", ... or "".
func (m Metric) Unit() string { return C.GoString(m.info().unit) }
