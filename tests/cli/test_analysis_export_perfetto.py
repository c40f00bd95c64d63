"""export --format perfetto: Chrome's trace events, as the format's description has them."""
import gzip
import json

import recordings

BEGAN = 1_700_000_000.5


def micros(secs):
    return round((BEGAN + secs) * 1e6)


def with_programs(names):
    """Eight samples: the programs of each second, which used a quarter of its core."""
    samples = recordings.eight_samples()
    for one, running in zip(samples, names):
        one["programs"] = [{"name": name, "cpu_secs": 0.25, "memory_mib": 10.0 * (one["sample"] + 1)} for name in running]
        # A program that has ended keeps its row. One that waits has a process.
        one["programs"] += [{"name": "gone", "cpu_secs": 0.0, "memory_mib": 0.0, "process_count": 0}]
        one["programs"] += [{"name": "waits", "cpu_secs": 0.0, "memory_mib": 1.0, "process_count": 1}] if one["sample"] < 2 else []
    return samples


def events_of(text):
    trace = json.loads(text)
    assert trace["displayTimeUnit"] == "ms"
    return trace["traceEvents"]


def check(events):
    """Perfetto warns of these: an end without a begin, slices of one track that overlap, and times in other forms."""
    open_phases, ends = set(), {}
    for one in events:
        assert one["ph"] in "MXCbe" and isinstance(one["name"], str) and one["pid"] >= 1 and one["tid"] >= 1
        assert one["ph"] == "M" or isinstance(one["ts"], int)
        if one["ph"] == "b":
            assert one["id"] not in open_phases
            open_phases.add(one["id"])
        if one["ph"] == "e":
            open_phases.remove(one["id"])
    assert not open_phases
    for one in sorted((one for one in events if one["ph"] == "X"), key=lambda one: one["ts"]):
        track = one["pid"], one["tid"]
        assert one["dur"] >= 0 and one["ts"] >= ends.get(track, 0)
        ends[track] = one["ts"] + one["dur"]


def test_programs_are_tracks_with_a_slice_for_each_time_with_processes(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", with_programs(["a", "ab", "b", "b", "", "a", "a", ""]))
    recordings.write_marks(path, BEGAN, [("start", "load", 0.5), ("start", "inner", 1.0), ("stop", "load", 2.5), ("stop", "inner", 3.0)])
    done = run("export", "--format", "perfetto", path)
    assert (done.returncode, done.err) == (0, "")
    events = events_of(done.out)
    check(events)
    tracks = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert sorted(tracks.values()) == ["a", "b", "run", "waits"]
    slices = [(tracks[one["tid"]], one["ts"], one["dur"], one["args"].get("cpu_secs"), one["args"].get("memory_peak_mib")) for one in events if one["ph"] == "X"]
    assert sorted(slices[:-1]) == [("a", micros(0), 2_000_000, 0.5, 20.0), ("a", micros(5), 2_000_000, 0.5, 70.0), ("b", micros(1), 3_000_000, 0.75, 40.0),
                                   ("waits", micros(0), 2_000_000, 0.0, 1.0)]
    assert slices[-1][:3] == ("run", micros(0), 8_000_000)
    phases = [(one["ph"], one["name"], one["ts"]) for one in events if one["ph"] in "be"]
    assert sorted(phases) == [("b", "inner", micros(1)), ("b", "load", micros(0.5)), ("e", "inner", micros(3)), ("e", "load", micros(2.5))]


def test_counters_are_those_of_the_samples_and_an_unknown_one_is_left_out(run, tmp_path):
    events = events_of(run("export", "--format", "perfetto", recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())).out)
    counters = {}
    for one in events:
        if one["ph"] == "C":
            counters.setdefault(one["name"], []).append((one["ts"], *one["args"].values()))
    # A rate holds before its sample, a level from it on. The last sample has no memory, and the job's end is 0.
    assert counters["cores"] == [(micros(i), 0.5 * (i + 1)) for i in range(8)] + [(micros(8), 0.0)]
    assert counters["memory MiB"] == [(micros(i + 1), 25.0 * (i + 1)) for i in range(7)] + [(micros(8), 0.0)]
    assert counters["disk read MiB/s"][0] == (micros(0), 0.004)


def test_each_recording_is_a_process_of_the_trace(run, tmp_path):
    one, two = (recordings.steady(tmp_path / f"{i}.jsonl", start=recordings.NO_LIMITS) for i in range(2))
    assert run("export", "--format", "perfetto", one, two, "-o", tmp_path / "trace.json.gz").returncode == 0
    events = events_of(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    check(events)
    assert {one["pid"] for one in events} == {1, 2} and sum(one["name"] == "process_name" for one in events) == 2
    assert run("export", "--format", "perfetto", tmp_path / "missing").returncode == 1
    (tmp_path / "torn.jsonl").write_text('{"timestamp": 17')
    done = run("export", "--format", "perfetto", tmp_path / "torn.jsonl", "-o", tmp_path / "none.json")
    assert done.returncode == 1 and "no whole sample" in done.err and not (tmp_path / "none.json").exists()
