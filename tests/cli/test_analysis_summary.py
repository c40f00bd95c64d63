"""summary: the same numbers in every form, computed from the file alone."""
import fcntl
import gzip
import json
import re

import pytest

import recordings
import terminals


@pytest.fixture
def eight(tmp_path):
    return recordings.write(tmp_path / "eight.jsonl", recordings.eight_samples())


def summary(run, *arguments):
    result = run("summary", "--json", *arguments)
    assert result.returncode == 0, result.err
    return json.loads(result.out)


def test_every_figure_follows_from_the_samples(run, eight):
    figures = summary(run, eight)
    assert figures["time"] == {"wall_secs": 8.0, "tree_wall_secs": None, "cpu_secs": 12.0, "user_secs": 9.0, "system_secs": 3.0}
    assert figures["cores"] == {"of": "job", "mean": 1.5, "max": 4.0, "max_elapsed_secs": 8.0, "limit": 2.0,
                                "limit_source": "cgroup limit", "mean_of_limit_pct": 75.0, "machine_mean": 2.75,
                                "machine_max": 4.5}
    assert figures["memory"]["peak_mib"] == 256.0 and figures["memory"]["peak_elapsed_secs"] == 6.5
    assert figures["memory"]["mean_mib"] == 100.0 and figures["memory"]["sampled_max_mib"] == 175.0
    assert figures["memory"]["limit_mib"] == 512.0 and figures["memory"]["peak_of_limit_pct"] == 50.0
    assert figures["io"]["read_bytes"] == 8 * 4096 and figures["io"]["machine_written_bytes"] == 8 * 9000
    assert figures["network"] == {"received_bytes": None, "sent_bytes": None, "received_bound_bytes": None,
                                  "sent_bound_bytes": None, "certain_received_bytes": None,
                                  "certain_sent_bytes": None, "connections": None, "retransmits": None, "source": None,
                                  "machine_received_bytes": 800, "machine_sent_bytes": 400}
    assert figures["waiting"]["throttled_secs"] == 1.0 and figures["waiting"]["throttled_periods"] == 8
    assert figures["processes"] == {"max": 3, "threads_max": 5, "exited": None}
    assert figures["tracker"]["cpu_secs"] == 0.008 and figures["tracker"]["cpu_of_core_pct"] == 0.1
    assert figures["end"]["exit_code"] == 3 and figures["end"]["recorded"] is True
    assert figures["run"]["samples"] == 8 and figures["run"]["executable"] == "make"
    assert figures["damage"] == {"torn_tails": 0, "bad_lines": 0, "first_bad_line": 0, "clock_steps": 0, "hosts": 1}


def test_the_screen_says_the_same(run, eight):
    text = run("summary", eight).out
    for part in ("Failed: exit status 3\nmake, job demo, on node-1\n", "8.00 s: failed", "1.50 of 2 cores (cgroup limit) on average, 4.00 at most",
                 "12.0 s of CPU time, 25 % in the kernel", "peak 256 MiB after 6.50 s, 50 % of 512 MiB",
                 "mean 100 MiB", "read 32.0 KiB, written 64.0 KiB", "throttled by the CPU limit for 1.00 s",
                 "at most 3 at a time", "8 samples every 1.00 s", "█"):
        assert part in text, part
    assert len(text.splitlines()) <= 24 and max(map(len, text.splitlines())) <= 110


def rows_of(text):
    """The table of a Markdown text: label -> its lines, with escapes undone."""
    cells = [re.fullmatch(r"\| (.*?) \| (.*) \|", line) for line in text.splitlines() if line.startswith("| **")]
    return {cell[1].strip("*"): re.sub(r"\\(.)", r"\1", cell[2]).split("<br>") for cell in cells}


@pytest.mark.parametrize("start, title", [
    ({}, "make, job demo"), ({"task_name": "all"}, "make, job demo, task all"),
    ({"command": '["make","-j2","a \\"b\\"","c\\nd\\u001be"]'}, 'make -j2 a "b" c d e, job demo'),
    ({"command": json.dumps(["echo", "\u00e4" * 99], ensure_ascii=False)}, "echo " + "\u00e4" * 27 + "..., job demo"),
    ({"executable": None}, "a process (pid 42), job demo")])
def test_the_title_tells_runs_apart(run, tmp_path, start, title):
    path = recordings.write(tmp_path / "run.jsonl", [recordings.sample(0, start={**recordings.START, **start})])
    assert run("summary", path).out.splitlines()[0] == title + ", on node-1"


def test_markdown_has_the_lines_of_the_screen_in_a_table(run, eight):
    text = run("summary", "--markdown", eight).out
    assert text == run("summary", "--format", "markdown", eight).out
    assert text.startswith("### **Failed: exit status 3**\n\n**make**, job demo, on node-1\n\n")
    rows = rows_of(text)
    screen = run("summary", eight, env={"COLUMNS": "1000"}).out
    assert list(rows) == [line[2:13].strip() for line in screen.splitlines() if re.match("  [^ ]", line)]
    for lines in rows.values():
        for line in lines:
            assert line in screen
    assert all(line.count(" | ") == 1 for line in text.splitlines() if line.startswith("| **"))


def test_markdown_escapes_the_text_of_the_job(run, tmp_path):
    name = "a|b*c_d`e`<img src=x>[l](u)"
    samples = recordings.eight_samples()
    for one in samples:
        one["job_name"] = name
    recordings.write(tmp_path / "run.jsonl", samples)
    line = next(line for line in run("summary", "--markdown", "run.jsonl").out.splitlines() if ", job " in line)
    assert r"job a\|b\*c\_d\`e\`&lt;img src=x&gt;\[l\](u), on" in line


@pytest.mark.parametrize("other", [["--json"], ["--layout", "gpu_tracker"]])
def test_markdown_is_a_form_of_its_own(run, eight, other):
    assert run("summary", "--markdown", *other, eight).returncode == 2


def moment(path, **end):
    """A run of a millisecond, whose only sample saw 1 of its 2 ms of CPU time."""
    return recordings.write(path, [recordings.sample(
        0, secs=0.001, cores=1.0, start=recordings.START,
        end=dict(recordings.END, utime_secs=0.001995, stime_secs=0.000005, wall_secs=0.001, **end))])


def test_a_mean_is_never_more_than_the_maximum(run, tmp_path):
    path = moment(tmp_path / "x.jsonl")
    text = run("summary", path).out
    assert "2.00 of 2 cores (cgroup limit) on average, 2.00 at most" in text and "2.00 ms of CPU time\n" in text
    assert "cost 1.00 ms of CPU time, 2.50 MiB" in text
    assert summary(run, path)["cores"]["max"] == 2.0


def test_summary_of_a_failed_start_shows_no_use(run, tmp_path):
    path = moment(tmp_path / "x.jsonl", reason="exec_failed")
    text = run("summary", path).out
    assert text.startswith("Failed: the command could not be started\n")
    assert len(text.strip().splitlines()) == 3
    assert summary(run, path)["bottlenecks"] == [
        {"rule": "not_started", "title": "It did not start", "text": "The command could not be started."}]


def test_units_can_be_chosen(run, eight):
    assert "peak 268435456 B " in run("summary", "--unit", "bytes", eight).out
    assert "peak 0.27 GB " in run("summary", "--unit", "GB", eight).out
    assert run("summary", "--unit", "stone", eight).returncode == 2


def test_a_recording_that_was_cut_says_so_and_uses_the_samples(run, tmp_path):
    samples = recordings.eight_samples()[:7]
    path = recordings.write(tmp_path / "cut.jsonl", samples)
    with path.open("a") as file:
        file.write('{"timestamp_secs":17')
    figures = summary(run, path)
    assert figures["end"]["recorded"] is False and figures["end"]["reason"] is None
    assert figures["time"]["cpu_secs"] == 14.0 and figures["time"]["wall_secs"] == 7.0
    assert figures["memory"]["peak_mib"] == 175.0 and figures["memory"]["peak_source"] == "pss"
    assert figures["damage"]["torn_tails"] == 1
    text = run("summary", path).out
    assert "no end is recorded" in text and "ends in the middle of a sample" in text


def test_it_is_the_same_from_gzip_standard_input_and_the_program_itself(run, eight, tmp_path):
    packed = tmp_path / "eight.jsonl.gz"
    packed.write_bytes(gzip.compress(eight.read_bytes()))
    text = run("summary", eight).out
    assert run("summary", packed).out == text
    assert run("summary", "-", stdin=eight.read_bytes()).out == text


def test_live_and_later_are_identical(run, tmp_path):
    path = tmp_path / "live.jsonl"
    live = run("-i", 0.1, "--summary", "-o", path, "--", "sh", "-c", "sleep 0.25; exit 7")
    assert live.returncode == 7
    assert run("summary", path).out == live.err


def test_the_last_run_of_an_appended_file_counts(run, tmp_path):
    first, second = recordings.eight_samples(), recordings.eight_samples()[:1]
    path = recordings.write(tmp_path / "two.jsonl", first + second)
    figures = summary(run, path)
    assert figures["run"]["samples"] == 1 and figures["run"]["run"] == 2 and figures["run"]["runs_in_file"] == 2
    assert figures["time"]["wall_secs"] == 1.0 and figures["end"]["recorded"] is False
    assert "the file holds 2 runs; this is the last" in run("summary", path).out


def test_without_a_process_it_is_about_the_machine(run, tmp_path):
    samples = recordings.eight_samples()
    for one in samples:
        one["tracked_pid"] = None
        if one.get("run_start"):
            one["run_start"] = {**one["run_start"], "mode": "host"}
        one["cpu"] = {key: None if key.startswith("process_") and key != "process_count" else value
                      for key, value in one["cpu"].items()}
    samples[-1]["run_end"] = {"reason": "tracker_stopped", "samples": 8}
    figures = summary(run, recordings.write(tmp_path / "host.jsonl", samples))
    assert figures["cores"]["of"] == "machine" and figures["cores"]["mean"] == 2.75
    assert figures["memory"]["peak_mib"] == 1024.0 and figures["memory"]["peak_source"] == "machine"
    assert "the tracker was stopped" in run("summary", tmp_path / "host.jsonl").out


@pytest.mark.parametrize("end, words", [
    ({"signal": 9, "reason": "signal"}, "killed by SIGKILL (9)"),
    ({"signal": 35, "reason": "signal"}, "killed by SIGRTMIN+1 (35)"),
    ({"signal": 32, "reason": "signal"}, "killed by signal 32\n"),
    ({"signal": 9, "reason": "oom_kill_confirmed"}, "killed for lack of memory (OOM)"),
    ({"signal": 9, "reason": "oom_kill_suspected"}, "probably killed for lack of memory"),
    ({"reason": "exec_failed", "exit_code": 127}, "could not be started"),
    ({"reason": "target_exited"}, "the tracked process has ended"),
    ({"reason": "duration"}, "the duration asked for was over"),
    ({"reason": "something_new"}, "something_new"),
])
def test_why_it_ended_is_said_in_words(run, tmp_path, end, words):
    assert words in run("summary", recordings.write(tmp_path / "x.jsonl", [recordings.sample(0, end=end)])).out


def test_step_that_was_killed_for_memory_is_told_though_the_run_succeeded(run, tmp_path):
    end = {"exit_code": 0, "oom_kills": 1, "cgroup_oom_kills": 1, "machine_oom_kills": 1, "oom_kill_elapsed_secs": 3.0,
           "oom_kill_limit_mib": 512.0, "oom_kill_peak_mib": 512.0}
    path = recordings.steady(tmp_path / "x.jsonl", end=end)
    assert "exit status 0; 1 process was killed for lack of memory\n" in run("summary", path).out
    found = summary(run, path)["end"]
    assert (found["oom"], found["oom_elapsed_secs"], found["oom_limit_mib"], found["oom_peak_mib"]) == ("step", 3, 512, 512)


def test_the_process_that_failed_first_is_there_as_it_was_recorded(run, tmp_path):
    first = recordings.FIRST_FAILURE
    path = recordings.steady(tmp_path / "x.jsonl", end={"exit_code": 2, "first_failure": first})
    found = summary(run, path)
    # Unknown stays null, for flags as well.
    assert found["first_failure"] == first and found["first_failure"]["out_of_memory"] is None
    assert found["end"]["failed_program"] == "cc1"
    words = found["end"]["failed_first"]
    assert words == ("probably cc1 was killed by SIGSEGV (core dumped) 0.5 s before the end (it had 300 MiB 0.5 s before); "
                     "make (exit status 2) > gcc (exit status 1) passed it on; or else as failed first")
    # The longest path that a recording has, of long names, keeps its words.
    parents = " > ".join(f"{number:063} (SIGSEGV)" for number in range(13)) + " > "
    long = {**first, "parents": parents.ljust(1023, "x"), "program": "p" * 63, "other_program": "o" * 63}
    words = summary(run, recordings.steady(tmp_path / "z.jsonl", end={"exit_code": 2, "first_failure": long}))["end"]["failed_first"]
    assert words.startswith("probably pppp") and words.endswith("o failed first") and parents in words
    for end in {"exit_code": 0, "first_failure": None}, {"exit_code": 2}:
        assert summary(run, recordings.steady(tmp_path / "y.jsonl", end=end))["first_failure"] == dict.fromkeys(first)


def test_kills_in_samples_of_version_0_1_are_found(run, tmp_path):
    samples = recordings.eight_samples()
    for one in samples[4:]:
        one["cgroup"].update(oom_kills=2, memory_peak_mib=511.0)
    samples[-1]["run_end"] = dict(recordings.END, oom_kills=None)
    path = recordings.write(tmp_path / "x.jsonl", samples)
    assert "2 processes were killed for lack of memory in its cgroup, which others share" in run("summary", path).out
    found = summary(run, path)["end"]
    assert (found["oom"], found["oom_elapsed_secs"], found["oom_limit_mib"], found["oom_peak_mib"]) == ("step", 5, 512, 511)


def write_without_end(path, memory, **group):
    samples = [recordings.sample(i, memory=float(value)) for i, value in enumerate(memory)]
    for one in samples:
        one["cgroup"].update(group)
    return recordings.write(path, samples)


@pytest.mark.parametrize("memory, stopped", [([100, 300, 480], True), ([100, 200, 390], True), ([340, 392, 443], True),
                                             ([100, 300, 310], False), ([100, 250, 255], False), ([440, 450], False)])
def test_recording_that_stops_at_its_limit_was_probably_killed(run, tmp_path, memory, stopped):
    """A kill of the whole group includes the tracker (memory.oom.group, the default of Kubernetes)."""
    path = write_without_end(tmp_path / "x.jsonl", memory)
    words = f"no end is recorded; probably killed for lack of memory, at {memory[-1]} of 512 MiB"
    assert (words in run("summary", path).out) == stopped
    assert summary(run, path)["end"]["oom"] == ("stopped_at_limit" if stopped else None)


def test_page_cache_at_the_limit_does_not_count_as_lack_of_memory(run, tmp_path):
    path = write_without_end(tmp_path / "x.jsonl", [100, 100], memory_current_mib=512.0, anon_mib=100.0, file_mib=412.0)
    assert summary(run, path)["end"]["oom"] is None
    path = write_without_end(tmp_path / "y.jsonl", [100, 100], anon_mib=100.0, shmem_mib=390.0)
    assert summary(run, path)["end"]["oom"] == "stopped_at_limit"


def test_recording_that_goes_on_at_its_limit_is_not_called_killed(run, tmp_path):
    path = write_without_end(tmp_path / "x.jsonl", [100, 480])
    with open(path) as recorder:
        fcntl.flock(recorder, fcntl.LOCK_EX)
        assert summary(run, path)["end"]["oom"] is None
    assert summary(run, path)["end"]["oom"] == "stopped_at_limit"


def test_the_cores_are_the_machines_unless_a_limit_is_lower(run, tmp_path):
    start = dict(recordings.START, cpu_count=2, cpu_limit_cores=None, cpuset_cores=None)
    one = recordings.sample(0, start=start, end=dict(recordings.END, memory_peak_mib=120.0, memory_peak_source="largest_process"))
    one["limits"].update(cpu_limit_cores=None, cpuset_cores=None)
    text = run("summary", recordings.write(tmp_path / "x.jsonl", [one])).out
    assert re.search(r"^  CPU        [\d.]+ of the machine's 2 cores on average, [\d.]+ at most; 12.0 s of CPU time, 25 % in the kernel$", text, re.M)
    # The peak of the largest process is told apart where it is far above the samples.
    assert "  Memory     peak 120 MiB" in text
    assert "the peak is that of the largest process; the largest sample of all is 100 MiB\n" in text
    one["run_end"]["memory_peak_mib"] = 108.0
    assert "largest process" not in run("summary", recordings.write(tmp_path / "x.jsonl", [one])).out


@pytest.mark.parametrize("samples, exited, words", ((1, 1, "peak 120 MiB"), (1, 2, "peak at least 120 MiB"), (2, 1, "peak at least 120 MiB")))
def test_the_largest_process_is_the_least_where_samples_lack_memory(run, tmp_path, samples, exited, words):
    """A short run has one sample, at its end, when its processes have gone."""
    end = dict(recordings.END, memory_peak_mib=120.0, memory_peak_source="largest_process", largest_process_peak_mib=120.0)
    lines = [recordings.sample(i, start=None if i else recordings.START, end=end if i == samples - 1 else None, memory=None)
             for i in range(samples)]
    lines[-1]["cpu"]["process_exited_count"] = exited
    assert f"  Memory     {words}" in run("summary", recordings.write(tmp_path / "x.jsonl", lines)).out


def test_each_process_has_a_thread_though_the_samples_saw_fewer(run, tmp_path):
    one = recordings.sample(0, start=recordings.START)
    one["cpu"]["process_child_count"], one["cpu"]["process_thread_count"] = 1, 1
    path = recordings.write(tmp_path / "x.jsonl", [one])
    assert "Processes  at most 2 at a time, 2 threads\n" in run("summary", path).out
    one["cpu"]["process_thread_count"] = None
    assert "Processes  at most 2 at a time\n" in run("summary", recordings.write(tmp_path / "x.jsonl", [one])).out


def test_names_do_no_harm_on_a_terminal(run, tmp_path):
    one = recordings.sample(0, start=dict(recordings.START, executable="\x1b[31mred\n"), job_name="a\x07b")
    text = run("summary", recordings.write(tmp_path / "x.jsonl", [one])).out
    assert "?[31mred?" in text and "\x1b" not in text and "\x07" not in text


def test_gpu_tracker_layout(run, eight):
    text = run("summary", "--layout", "gpu_tracker", "--ram-unit", "megabytes", "--time-unit", "seconds",
               "--expected-cores", "4", eight).out
    tree = json.loads(run("summary", "--json", "--layout", "gpu_tracker", "--ram-unit", "megabytes", "--time-unit",
                          "seconds", "--expected-cores", "4", eight).out)
    mib = 1.048576
    assert list(tree) == ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]
    assert tree["max_ram"]["system_capacity"] == pytest.approx(4096 * mib)
    assert tree["max_ram"]["main"]["total_rss"] == pytest.approx(87.5 * mib)
    assert tree["max_ram"]["descendants"]["total_rss"] == pytest.approx(175 * mib)
    assert tree["max_ram"]["combined"] == pytest.approx(
        {"total_rss": 175 * mib, "private_rss": 131.25 * mib, "shared_rss": 43.75 * mib})
    assert tree["max_ram"]["main"]["private_rss"] is None
    cpu = tree["cpu_utilization"]
    assert cpu["system_core_count"] == 8 and cpu["n_expected_cores"] == 4
    assert cpu["combined"] == {"max_sum_percent": 400.0, "max_hardware_percent": 100.0, "mean_sum_percent": 225.0,
                               "mean_hardware_percent": 56.25}
    assert cpu["main"]["max_sum_percent"] == 100.0 and cpu["descendants"]["max_sum_percent"] == 300.0
    assert cpu["main_n_threads"] == 1 and cpu["descendants_n_threads"] == 4 and cpu["combined_n_threads"] == 5
    assert tree["gpu_utilization"]["system_gpu_count"] == 0
    assert tree["gpu_utilization"]["gpu_percentages"]["mean_hardware_percent"] == 0.0
    assert tree["compute_time"] == {"unit": "seconds", "time": 8.0}
    assert text.startswith("Max RAM:\n   Unit: megabytes\n   System capacity: 4294.967\n   System: 1073.742\n"
                           "   Main:\n      Total RSS: 91.75\n      Private RSS: unknown\n")
    assert text.endswith("Compute time:\n   Unit: seconds\n   Time: 8.0\n")
    refused = run("summary", "--layout", "gpu_tracker", "--ram-unit", "pebbles", eight)
    assert refused.returncode == 1 and "bytes, gigabytes, kilobytes, megabytes, terabytes" in refused.err


def test_files_of_different_runs_are_summarised_one_by_one(run, eight, tmp_path):
    other = recordings.write(tmp_path / "other.jsonl", [recordings.sample(0, start=recordings.START)])
    assert run("summary", eight, other).out == run("summary", eight).out + "\n" + run("summary", other).out
    both = json.loads(run("summary", "--json", eight, other).out)
    assert both == [summary(run, eight), summary(run, other)]


def test_gpus_are_chosen_by_their_uuid(run, tmp_path):
    gpus = [{"uuid": f"GPU-{i}", "utilization_pct": 25.0 * (i + 1), "vram_total_bytes": 1 << 30} for i in range(3)]
    path = recordings.write(tmp_path / "gpu.jsonl", [recordings.sample(i, gpu=gpus) for i in range(2)])

    def percentages(*arguments):
        result = run("summary", "--json", "--layout", "gpu_tracker", *arguments, path)
        assert result.returncode == 0, result.err
        tree = json.loads(result.out)
        return tree["gpu_utilization"]["n_expected_gpus"], tree["gpu_utilization"]["gpu_percentages"]

    assert percentages() == (3, {"max_sum_percent": 150.0, "max_hardware_percent": 50.0, "mean_sum_percent": 150.0,
                                 "mean_hardware_percent": 50.0})
    assert percentages("--gpu-uuids", "GPU-0,GPU-2")[1]["max_sum_percent"] == 100.0
    assert percentages("--gpu-uuids", "GPU-0,GPU-2")[0] == 2
    refused = run("summary", "--layout", "gpu_tracker", "--gpu-uuids", "GPU-9", path)
    assert refused.returncode == 1 and "no GPU 'GPU-9'; there are GPU-0, GPU-1, GPU-2" in refused.err


def test_phases_of_the_job_are_listed(run, record, tmp_path, binary):
    result, _ = record("-i", 0.1, "--summary", "--", "sh", "-c",
                       f"'{binary}' mark load start; '{binary}' mark load stop; '{binary}' mark \"x\x1b\" start; sleep 0.2")
    assert result.returncode == 0
    phases = summary(run, tmp_path / "record.jsonl")["phases"]
    assert [(phase["name"], phase["calls"], phase["open_calls"]) for phase in phases] == [("load", 1, 0), ("x\x1b", 1, 1)]
    assert 0.2 <= phases[1]["total_secs"] < 2
    lines = result.err.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("  Phases"))
    assert re.match(r"  Phases     x\? +\d.* s +\d+ %  not closed$", lines[first])
    assert re.match(r"             load +\d.* +\d+ %$", lines[first + 1])
    assert run("summary", tmp_path / "record.jsonl").out == result.err


@pytest.mark.parametrize("secs, told", [(0.0016, False), (1.6, True)])
def test_a_tick_is_not_told_as_a_share_of_the_kernel(run, tmp_path, secs, told):
    """A sleep once had `100 % of it in the kernel`, and then `0 %`: the kernel splits so little time by chance."""
    path = recordings.steady(tmp_path / "x.jsonl", cores=0.0, end={"utime_secs": 0.0, "stime_secs": secs})
    line = next(line for line in run("summary", path).out.splitlines() if line.startswith("  CPU"))
    assert "of CPU time" in line and ("100 %" in run("summary", path).out) == told, line


def test_counts_have_the_right_number(run, tmp_path):
    samples = recordings.eight_samples()
    for one in samples:
        one["cpu"].update(process_child_count=0, process_thread_count=1)
    samples[-1]["run_end"] = dict(recordings.END, descendants_running=1)
    samples[4]["missed_ticks"] = 1
    text = run("summary", recordings.write(tmp_path / "x.jsonl", samples)).out
    assert "1 thread" in text and "1 threads" not in text and "; 1 sample missed" in text, text


@pytest.mark.parametrize("columns", [40, 60, 80, 133])
def test_lines_fit_the_screen(run, eight, columns):
    lines = run("summary", eight, env={"COLUMNS": str(columns)}).out.splitlines()
    blocks = [line for line in lines if "█" in line]  # a sparkline stays whole
    assert blocks and max(len(line) for line in lines if line not in blocks) <= columns
    whole = run("summary", eight).out.split()
    assert [word for line in lines for word in line.split()] == whole


def test_lines_of_a_file_have_80_columns(run, eight):
    lines = run("summary", eight, env={"COLUMNS": ""}).out.splitlines()
    assert 70 < max(map(len, lines)) <= 80
    assert not any(re.search(r"\d$", line) and re.match(r" +[a-zA-Z%]", after) for line, after in zip(lines, lines[1:])
                   if line.startswith("   ") or after.startswith("             ")), "a number without its unit"


def test_colours_need_a_terminal_or_an_option(run, eight):
    plain = run("summary", eight).out
    assert "\x1b" not in plain and "\x1b" not in run("summary", "--color=never", eight).out
    coloured = run("summary", "--color", "always", eight).out
    assert coloured.startswith("\x1b[1;31mFailed: exit status 3\x1b[0m\n")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    assert run("summary", "--color", "blue", eight).returncode == 2


def test_a_sparkline_tells_its_scale(run, eight):
    lines = [line for line in run("summary", eight).out.splitlines() if "█" in line]
    assert [line.split("  ")[-1] for line in lines] == ["0 to 4.00 cores", "0 to 175 MiB"]


def on_terminal(binary, helpers, *arguments, **environment):
    return terminals.show(binary, *arguments, rows=25, columns=60, environment={**helpers.clean_environment(), "TERM": "xterm", **environment})


def test_a_terminal_has_its_width_and_colours(binary, helpers, eight):
    shown = on_terminal(binary, helpers, "summary", eight)
    plain = re.sub("\x1b\\[[0-9;]*m", "", shown)
    assert shown.startswith("\x1b[1;31mFailed") and max(len(line) for line in plain.splitlines() if "█" not in line) <= 60
    assert "\x1b" not in on_terminal(binary, helpers, "summary", eight, NO_COLOR="1")
    assert "\x1b" not in on_terminal(binary, helpers, "summary", eight, TERM="dumb")


def test_plain_letters_where_the_locale_has_no_more(binary, helpers, eight):
    shown = on_terminal(binary, helpers, "summary", eight, LC_ALL="C")
    assert shown.isascii() and "###" in shown


def test_the_end_of_a_run_on_a_terminal_stands_apart_and_names_the_next_command(binary, helpers, tmp_path):
    shown = on_terminal(binary, helpers, "-o", tmp_path / "r.jsonl", "--", "sh", "-c", "echo done; exit 3")
    plain = re.sub("\x1b\\[[0-9;]*m", "", shown)
    assert plain.startswith("done\n\nFailed: exit status 3\n"), plain
    assert plain.endswith(f"recorded in {tmp_path}/r.jsonl; resource-tracker report {tmp_path}/r.jsonl\n"), plain


def test_a_core_file_is_told(run, record):
    for limit, told in (("unlimited", ", core dumped"), ("0", "")):
        result, samples = record("--summary", "--", "sh", "-c", f"cd /tmp; ulimit -c {limit} && kill -SEGV $$")
        end = samples[-1]["run_end"]
        if limit != "0" and not end["core_dumped"]:
            continue  # core_pattern may send it nowhere
        assert end["core_dumped"] == bool(told) and result.err.startswith(f"Failed: killed by SIGSEGV (11){told}\n")


def test_no_mean_is_above_the_maximum(run, tmp_path):
    """run_end has CPU time of children that no sample saw: 12 s in 8, where the samples have 1 core."""
    path = recordings.steady(tmp_path / "run.jsonl", cores=1.0, end=recordings.END)
    cores = json.loads(run("summary", "--json", path).out)["cores"]
    assert cores["max"] >= cores["mean"] == 1.5
