"""Tables for people: they fit the terminal, have units and colours, and long ones are shown through a pager."""
import json
import re

import pytest

import recordings
import terminals

COMMANDS = [["regions"], ["regions", "--column", "memory.used_mib,cpu.process_cores_used,memory.total_mib"], ["show"],
            ["show", "-c", "timestamp,process_memory_mib,disk[sum].read_bytes_per_sec,memory.total_mib,memory.free_mib,memory.used_mib,"
                     "cpu.utilization_pct,sample"],
            ["stats"], ["stats", "-c", "process_cpu_usage,timestamp", "-a", "mean,max,min,median,std,p95,p99,first,last,len"],
            ["compare-runs", "b.jsonl"], ["stats", "--by", "program"], ["summary"], ["recommend"]]


@pytest.fixture
def folder(tmp_path):
    programs = [{"name": name, "cpu_secs": secs, "cpu_estimated_secs": 0.0, "memory_peak_mib": 30.0, "process_count": 1}
                for name, secs in (("a program with a name that is much too long for a line of a terminal", 6.0), ("ld", 1.0))]
    for name, memory in (("a.jsonl", 100.0), ("b.jsonl", 300.0)):
        path = recordings.steady(tmp_path / name, memory=memory, end={"programs": programs})
        samples = [json.loads(line) for line in path.open()]
        recordings.write(path, samples)
    begin = samples[0]["timestamp"] - 1
    recordings.write_marks(tmp_path / "a.jsonl", begin, [("start", "load", 0), ("stop", "load", 2), ("start", "brief", 2.1),
                                                         ("stop", "brief", 2.2)])
    return tmp_path


@pytest.fixture
def screen(binary, helpers, folder):
    def show(*arguments, environment=None, **options):
        return terminals.show(binary, *arguments, cwd=folder, **options,
                              environment={**helpers.clean_environment(), "TERM": "xterm", **(environment or {})})

    return show


def on_recording(command):
    return [command[0], *command[1:], "a.jsonl"] if command[0] != "compare-runs" else [command[0], "a.jsonl", *command[1:]]


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_tables_fit_the_terminal(screen, command, columns):
    shown = terminals.plain(screen(*on_recording(command), columns=columns, status=0))
    # A sparkline keeps its length.
    assert max(len(line) for line in shown.splitlines() if "█" not in line) <= columns, shown
    assert "TinyDataFrame" not in shown and "NaN" not in shown and "nan" not in shown


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_wide_table_has_headings_of_two_lines_and_parts_of_one_subject(screen, columns):
    shown = terminals.plain(screen("show", "a.jsonl", columns=columns, status=0))
    parts = [[line for line in part.splitlines() if not re.match(r" *\d\d:", line)] for part in shown.split("\n\n")[1:]]
    assert len(parts) > 1 and all(len(headings) <= 2 for headings in parts), shown
    groups = [set(re.findall(r"\b(process|system)_", " ".join(headings))) for headings in parts]
    assert all(len(group) == 1 for group in groups), shown


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_pipe_gets_one_table_without_colours(run, folder, command):
    shown = run(*on_recording(command), cwd=folder, env={"COLUMNS": ""})
    assert shown.returncode == 0 and "\x1b" not in shown.out, shown.err
    if command[0] not in ("summary", "recommend"):
        tables = [part for part in shown.out.split("\n\n") if len(part.splitlines()) > 1]
        assert len(tables) == 1 + (command[0] == "compare-runs"), shown.out


@pytest.mark.parametrize("command", COMMANDS[:-1], ids=" ".join)
def test_colours_are_the_users_choice(run, screen, folder, command):
    words = on_recording(command)
    plain = run(*words, cwd=folder).out
    always = run(words[0], "--color=always", *words[1:], cwd=folder).out
    assert "\x1b[" in always and terminals.plain(always) == plain
    assert "\x1b[" in screen(*words)
    assert "\x1b[" not in screen(words[0], "--color=never", *words[1:])
    assert "\x1b[" not in screen(*words, environment={"NO_COLOR": "1"})
    assert run(words[0], "--color=blue", *words[1:], cwd=folder).returncode == 2


def test_a_phase_is_one_row(run, folder):
    heading, load, brief, whole, *notes = run("regions", "a.jsonl", cwd=folder).out.splitlines()
    assert re.split("  +", heading.strip())[:5] == ["phase", "calls", "time", "of run", "cores mean"]
    assert load.split()[:6] == ["load", "1", "2.00", "s", "25", "%"] and "100 MiB" in load
    # It has a share of the bytes of a longer sample, and no memory: that is known at time stamps only.
    assert brief.split()[:2] == ["brief", "1"] and " - " in brief and brief.split()[-1] != "-"
    assert whole.startswith("whole run") and "1 phase has no sample's time stamp" in " ".join(notes)


def test_gpu_trackers_layout_has_its_own_name(run, folder):
    old = run("regions", "--format", "gpu-tracker", "a.jsonl", cwd=folder).out
    assert old.startswith("Overall:\n") and "Code Block Results:" in old
    assert run("summary", "--format", "gpu-tracker", "a.jsonl", cwd=folder).out == run(
        "summary", "--layout", "gpu_tracker", "a.jsonl", cwd=folder).out
    assert json.loads(run("regions", "--format", "json", "a.jsonl", cwd=folder).out) == json.loads(
        run("regions", "--json", "a.jsonl", cwd=folder).out)


def test_a_worse_run_is_red_and_a_better_one_green(run, folder):
    def line(*runs):
        out = run("compare-runs", "--color=always", *runs, cwd=folder).out
        return next(line for line in out.splitlines() if line.startswith("memory peak"))

    assert "\x1b[1;31m+200.0 %" in line("a.jsonl", "b.jsonl") and "\x1b[32m-66.7 %" in line("b.jsonl", "a.jsonl")
    condition = run("compare-runs", "--fail-if", "memory peak>+10%", "a.jsonl", "b.jsonl", cwd=folder)
    assert condition.returncode == 3


LONG = ["show", "--rows", "0", "a.jsonl"]


def test_a_long_text_is_shown_through_the_pager(screen, folder):
    def paged(*command, pager="cat >paged", **options):
        (folder / "paged").unlink(missing_ok=True)
        shown = screen(*command, environment={"PAGER": pager, "TERM": "xterm", **options.pop("environment", {})}, rows=10, **options)
        return shown, (folder / "paged").read_text() if (folder / "paged").exists() else None

    whole, nothing = paged(*LONG, pager="")
    assert "process_" in whole and nothing is None
    shown, text = paged(*LONG)
    assert shown == "" and text == whole
    # The pager gets JSON as well.
    assert json.loads(paged("show", "--json", "--rows", "0", "a.jsonl")[1])
    for case in ({"environment": {"TERM": "dumb"}}, {"pager": "cat"}):
        shown, text = paged(*LONG, **case)
        assert terminals.plain(shown) == terminals.plain(whole) and text is None
    assert paged("show", "--no-pager", *LONG[1:]) == (whole, None)
    assert paged("show", "-c", "sample", "--rows", "3", "a.jsonl")[1] is None
    shown, _ = paged(*LONG, pager="no-such-pager-anywhere")
    assert shown.endswith(whole)


def test_the_end_of_a_run_is_not_paged(screen, folder):
    shown = screen("-o", "r.jsonl", "--", "true", environment={"PAGER": "cat >paged"}, rows=5)
    assert "exit status 0" in shown and not (folder / "paged").exists()


def test_without_a_terminal_the_pager_stays_out(run, folder):
    assert len(run(*LONG, cwd=folder, env={"PAGER": "cat >paged"}).out.splitlines()) > 10 and not (folder / "paged").exists()


def test_metrics_fit_a_terminal_and_stay_lines_in_a_pipe(run, screen, folder):
    shown = screen("metrics", "--no-pager")
    plain = terminals.plain(shown)
    assert shown != plain and max(map(len, plain.splitlines())) <= 80
    names = run("metrics", "--names").out.split()
    assert [line.split()[0] for line in plain.splitlines() if re.match("  [a-z_0-9.]+(  |$)", line)] == names
    assert plain.count("memory: from /proc/meminfo") == 1
    assert len(run("metrics").out.splitlines()) == len(names) + 1
    assert screen("metrics", environment={"PAGER": "cat >paged"}) == "" and (folder / "paged").read_text() == shown


def test_export_tells_a_person_what_csv_lacks(run, screen, folder):
    said = "CSV has whole MiB, and neither the job's name nor how it ended; .jsonl and .sqlite have all\n"
    name = next(folder.glob("*.jsonl")).name
    assert screen("export", name, "-o", "out.csv") == said == screen("export", "-f", "csv", name, "-o", "out")
    assert screen("export", name, "-o", "out.sqlite") == "" and run("export", folder / name, "-o", folder / "piped.csv").err == ""


def test_a_single_sample_has_no_period(run, tmp_path):
    text = run("summary", recordings.write(tmp_path / "one.jsonl", [recordings.sample(0, start=recordings.START)])).out
    assert "Tracker    1 sample" in text and "1 sample every" not in text
