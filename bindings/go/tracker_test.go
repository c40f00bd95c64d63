package resourcetracker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func open(t *testing.T, options ...Option) *Tracker {
	t.Helper()
	tracker, err := Open(append([]Option{Pid(os.Getpid()), Set("interval", "0.01")}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tracker.Close() })
	return tracker
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fail(t *testing.T, err error, errno error, words string) {
	t.Helper()
	if !errors.Is(err, errno) || !strings.Contains(err.Error(), words) {
		t.Fatalf("%v, want %v with %q", err, errno, words)
	}
}

func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func snapshotOf(t *testing.T, tracker *Tracker) *Snapshot {
	t.Helper()
	snapshot, err := tracker.Snapshot()
	succeed(t, err)
	return snapshot
}

func checkRecording(t *testing.T, path string, count int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	succeed(t, err)
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	var last struct {
		RunEnd struct{ Reason string } `json:"run_end"`
	}
	succeed(t, json.Unmarshal(lines[len(lines)-1], &last))
	if last.RunEnd.Reason != "tracker_stopped" || (count >= 0 && count != int64(len(lines))) {
		t.Fatalf("%d lines, want %d, with the end %q", len(lines), count, last.RunEnd.Reason)
	}
}

func TestARecordingIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	tracker := open(t, Set("output", path))
	succeed(t, tracker.Start())
	succeed(t, tracker.WaitForSamples(minute(t), 2))
	succeed(t, tracker.Stop())
	checkRecording(t, path, tracker.SampleCount())
}

func TestCloseEndsTheRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	tracker := open(t, Set("output", path))
	succeed(t, tracker.Start())
	succeed(t, tracker.Close())
	checkRecording(t, path, -1)
	for _, err := range []error{tracker.Close(), tracker.Start(), tracker.Stop(), tracker.Sample(), tracker.WaitForSamples(minute(t), 1)} {
		fail(t, err, os.ErrClosed, "closed")
	}
	if _, err := tracker.Snapshot(); !errors.Is(err, os.ErrClosed) || tracker.SampleCount() != 0 {
		t.Fatal(err)
	}
}

func TestASnapshotHasEachKindOfValue(t *testing.T) {
	tracker := open(t, Set("job-name", "naïve"))
	succeed(t, tracker.Sample())
	snapshot := snapshotOf(t, tracker)
	succeed(t, tracker.Close())
	kinds, keys := map[Kind]int{}, 0
	snapshot.Each(func(entry Entry) bool {
		value, err := snapshot.At(entry.Metric, entry.Instance)
		if err != nil || value != entry.Value {
			t.Fatalf("%v: %v, want %v (%v)", entry.Metric.Name(), value, entry.Value, err)
		}
		if found, ok := Find(entry.Metric.Name()); !ok || found != entry.Metric {
			t.Fatalf("%v is not found", entry.Metric.Name())
		}
		_, isNumber := value.Number()
		unknown := value.Kind() == Unknown
		if unknown != (value.Any() == nil) || unknown != (value.Reason() != "") || unknown && isNumber {
			t.Fatalf("%v: %#v", entry.Metric.Name(), value)
		}
		kinds[value.Kind()]++
		if entry.Key != "" {
			keys++
		}
		return true
	})
	if len(kinds) != 5 || keys == 0 {
		t.Fatalf("%v, %d keys", kinds, keys)
	}
	if value, err := snapshot.Get("job_name"); err != nil || value.Any() != "naïve" {
		t.Fatal(value, err)
	}
	if value, err := snapshot.Get("cpu.process_rss_mib"); err != nil || value.Any().(float64) < 0.5 {
		t.Fatal(value, err)
	}
	seen := 0
	snapshot.Each(func(Entry) bool {
		seen++
		return seen < 3
	})
	if seen != 3 {
		t.Fatal(seen)
	}
}

func TestAClosedSnapshotIsNotRead(t *testing.T) {
	tracker := open(t, Set("job-name", "kept"))
	succeed(t, tracker.Sample())
	snapshot := snapshotOf(t, tracker)
	name, err := snapshot.Get("job_name")
	succeed(t, err)
	seen := 0
	snapshot.Each(func(Entry) bool {
		seen++
		succeed(t, snapshot.Close())
		return true
	})
	value, err := snapshot.Get("job_name")
	fail(t, err, os.ErrClosed, "closed")
	if seen != 1 || value.Any() != nil || value.Reason() == "" || name.Any() != "kept" {
		t.Fatal(seen, value, name)
	}
	fail(t, snapshot.Close(), os.ErrClosed, "closed")
}

func TestAFailedCallSaysWhatToDo(t *testing.T) {
	_, err := Open(Set("no-such-setting", "1"))
	fail(t, err, syscall.ENOENT, "no-such-setting")
	_, err = Open(Set("interval", "often"))
	fail(t, err, syscall.EINVAL, "interval")
	_, err = Open(Set("job-name", "a\x00b"))
	fail(t, err, syscall.EINVAL, "byte of value 0")
	_, err = Open(Pid(2147483647))
	fail(t, err, syscall.ESRCH, "2147483647")
	tracker := open(t)
	_, err = tracker.Snapshot()
	fail(t, err, syscall.ENODATA, "there is no sample yet")
	fail(t, tracker.Stop(), syscall.ENOTCONN, "never started")
	if text, there := tracker.Warning(); there || text != "" {
		t.Fatal(text)
	}
	succeed(t, tracker.Sample())
	_, err = snapshotOf(t, tracker).Get("no.such_metric")
	fail(t, err, os.ErrNotExist, "no such metric")
	_, err = snapshotOf(t, tracker).Get("sample\x00x")
	fail(t, err, os.ErrNotExist, "no such metric")
	sample, _ := Find("sample")
	_, err = snapshotOf(t, tracker).At(sample, 1)
	fail(t, err, syscall.ENOENT, "instance")
	_, err = snapshotOf(t, tracker).At(sample, -1)
	fail(t, err, syscall.ENOENT, "instance")
	succeed(t, tracker.Start())
	fail(t, tracker.Sample(), syscall.EBUSY, "background thread")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fail(t, tracker.WaitForSamples(ctx, 1<<62), context.Canceled, "canceled")
	succeed(t, tracker.Stop())
	fail(t, tracker.WaitForSamples(minute(t), 1<<62), syscall.ESHUTDOWN, "ended")
}

func TestGoroutinesShareATrackerAndASnapshot(t *testing.T) {
	tracker := open(t)
	succeed(t, tracker.Start())
	succeed(t, tracker.WaitForSamples(minute(t), 1))
	old := snapshotOf(t, tracker)
	number, err := old.Get("sample")
	succeed(t, err)
	var others sync.WaitGroup
	for i := 0; i < 4; i++ {
		others.Add(1)
		go func() {
			defer others.Done()
			for last := int64(0); ; {
				snapshot, err := tracker.Snapshot()
				if errors.Is(err, os.ErrClosed) {
					return
				}
				value, _ := snapshot.Get("sample")
				sample, isCount := value.Any().(int64)
				if same, err := old.Get("sample"); err != nil || same != number || !isCount || sample < last {
					t.Error(same, number, value, last)
					return
				}
				last = sample
				runtime.GC() // frees snapshots of the other goroutines beside their own calls
			}
		}()
	}
	succeed(t, tracker.WaitForSamples(minute(t), 10))
	succeed(t, tracker.Close())
	others.Wait()
}

func TestMetricsHaveUnits(t *testing.T) {
	used, found := Find("memory.used_mib")
	if !found || used.Name() != "memory.used_mib" || used.Unit() != "MiB" {
		t.Fatal(used, used.Unit())
	}
	if none, found := Find("memory.used_mib\x00x"); found || none.Name() != "" || none.Unit() != "" {
		t.Fatal(none)
	}
	if strings.Count(Version(), ".") != 2 {
		t.Fatal(Version())
	}
}
