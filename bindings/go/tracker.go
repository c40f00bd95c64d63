// Package resourcetracker records what a process tree and its machine use, by the C library resource-tracker (Linux).
//
//	tracker, err := resourcetracker.Open(resourcetracker.Pid(os.Getpid()), resourcetracker.Set("output", "run.jsonl"))
//	if err != nil {
//		return err
//	}
//	defer tracker.Close()
//	if err := tracker.Start(); err != nil {
//		return err
//	}
//	work()
//
// An absent value is Unknown with its reason, never 0. All methods may be called by any number of goroutines at once. After Close they
// return os.ErrClosed, so nothing that was freed is read. Strings are copies. Open reads the environment of C: no other goroutine may
// call setenv of C meanwhile.
package resourcetracker

/*
#cgo pkg-config: resource-tracker
#include <resource_tracker.h>
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Error is a call that failed: its name, the errno, and one line with the remedy. errors.Is finds the errno: errors.Is(err, syscall.EBUSY).
type Error struct {
	Call  string
	Errno syscall.Errno
	Text  string
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the errno.
func (e *Error) Unwrap() error { return e.Errno }

func failure(call string, result C.int) error {
	if result >= 0 {
		return nil
	}
	name := C.CString(call)
	defer C.free(unsafe.Pointer(name))
	return &Error{Call: call, Errno: syscall.Errno(-result), Text: C.GoString(C.rt_error_text(name, result))}
}

// ofConfig is the same with the message of the library, which names the setting, file or process, where it has one.
func ofConfig(config *C.rt_config, call string, result C.int) error {
	err := failure(call, result)
	if message := C.GoString(C.rt_config_message(config)); err != nil && message != "" {
		err.(*Error).Text = message
	}
	return err
}

// nameText is a name for C, where a byte of value 0 would end it: with a question mark instead, it is unknown.
func nameText(name string) *C.char { return C.CString(strings.ReplaceAll(name, "\x00", "?")) }

// Version is that of the loaded library: "0.1.0".
func Version() string { return C.GoString(C.rt_version()) }

// Option is a setting of Open.
type Option func(*C.rt_config) error

// Set sets a setting by its name, that of the command's long option without dashes, or adds a value to one that may be given several
// times ("output", "tag").
func Set(name, value string) Option {
	return func(config *C.rt_config) error {
		if strings.Contains(value, "\x00") {
			return &Error{"rt_config_set", syscall.EINVAL, "a text has a byte of value 0: leave it out"}
		}
		cName, cValue := nameText(name), C.CString(value)
		defer C.free(unsafe.Pointer(cName))
		defer C.free(unsafe.Pointer(cValue))
		return ofConfig(config, "rt_config_set", C.rt_config_set(config, cName, cValue))
	}
}

// Pid tracks a process, which may be this one, and all that it starts. Without it, the machine is recorded.
func Pid(pid int) Option { return Set("pid", strconv.Itoa(pid)) }

// Apart lets another process record, which finishes the recording however this one dies.
func Apart() Option {
	return func(config *C.rt_config) error {
		C.rt_config_set_apart(config, true)
		return nil
	}
}

// Tracker is a recording.
type Tracker struct {
	lock   sync.RWMutex // held to read by each call, and to write by Close
	handle *C.rt_tracker
}

// Open opens the outputs and reads the machine once. Close the tracker to finish the recording.
func Open(options ...Option) (*Tracker, error) {
	var config *C.rt_config
	if err := failure("rt_config_new", C.rt_config_new(&config)); err != nil {
		return nil, err
	}
	defer C.rt_config_free(config)
	for _, option := range options {
		if err := option(config); err != nil {
			return nil, err
		}
	}
	tracker := &Tracker{}
	if err := ofConfig(config, "rt_open", C.rt_open(config, &tracker.handle)); err != nil {
		return nil, err
	}
	return tracker, nil
}

func (t *Tracker) call(name string, function func(*C.rt_tracker) C.int) error {
	t.lock.RLock()
	defer t.lock.RUnlock()
	if t.handle == nil {
		return os.ErrClosed
	}
	return failure(name, function(t.handle))
}

// Start samples at the interval, in a thread of the library.
func (t *Tracker) Start() error {
	return t.call("rt_start", func(handle *C.rt_tracker) C.int { return C.rt_start(handle) })
}

// Stop takes the last sample and ends the thread. Snapshots may still be taken.
func (t *Tracker) Stop() error {
	return t.call("rt_stop", func(handle *C.rt_tracker) C.int { return C.rt_stop(handle) })
}

// Sample takes a sample now, without a thread.
func (t *Tracker) Sample() error {
	return t.call("rt_sample", func(handle *C.rt_tracker) C.int { return C.rt_sample(handle) })
}

// Close finishes the recording if that has not ended, and frees the tracker. It waits for the calls of other goroutines.
func (t *Tracker) Close() error {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.handle == nil {
		return os.ErrClosed
	}
	C.rt_close(t.handle)
	t.handle = nil
	return nil
}

// SampleCount is the number of samples so far; 0 after Close.
func (t *Tracker) SampleCount() int64 {
	var count int64
	_ = t.call("rt_sample_count", func(handle *C.rt_tracker) C.int {
		count = int64(C.rt_sample_count(handle))
		return 0
	})
	return count
}

// WaitForSamples waits until n samples were taken, or the context is over. A wait in C cannot be interrupted, so it is made of short ones.
func (t *Tracker) WaitForSamples(ctx context.Context, n int64) error {
	for ctx.Err() == nil {
		err := t.call("rt_wait_for_samples", func(handle *C.rt_tracker) C.int {
			return C.rt_wait_for_samples(handle, C.int64_t(n), C.double((20 * time.Millisecond).Seconds()))
		})
		if failed, ok := err.(*Error); !ok || failed.Errno != syscall.ETIMEDOUT {
			return err
		}
	}
	return ctx.Err()
}

// Warning is the oldest warning that was not taken yet (a full disk, dropped samples); false: there is none.
func (t *Tracker) Warning() (string, bool) {
	var text [512]C.char
	err := t.call("rt_next_warning", func(handle *C.rt_tracker) C.int {
		return C.rt_next_warning(handle, &text[0], C.size_t(len(text)))
	})
	return C.GoString(&text[0]), err == nil
}

// Snapshot copies all values of the newest sample. Other samples and the end of the tracker do not change it.
func (t *Tracker) Snapshot() (*Snapshot, error) {
	snapshot := &Snapshot{}
	err := t.call("rt_snapshot_take", func(handle *C.rt_tracker) C.int {
		return C.rt_snapshot_take(handle, &snapshot.handle)
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(snapshot, (*Snapshot).Close)
	return snapshot, nil
}
