"""`history`: the use, ends, waste and drift of each job, from lines of runs."""
import gzip
import json
import os
import pathlib
import pty
import random
import re
import statistics
import subprocess
import sys
import time

import pytest

import recordings
from conftest import BUILD, clean_environment, in_memory, json_lines


def line(number, **changes):
    return {**recordings.RUN_LINE, "id": f"run-{number}", "started": 1_700_000_000.0 + 1000 * number, **changes}


def write(path, lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


@pytest.fixture
def groups(run, tmp_path):
    """groups(lines, "--by", "host") writes a file, runs history --json and returns its groups by job and task (or by the words)."""

    def read(lines, *arguments):
        result = run("history", "--json", *arguments, write(tmp_path / "runs.jsonl", lines))
        assert result.returncode == 0, result.err
        return json.loads(result.stdout)["groups"]

    return read


def test_figures_of_one_job_are_those_of_its_lines(groups):
    rng = random.Random(4)
    peaks = [round(rng.uniform(100, 900), 3) for _ in range(41)]
    group, = groups([line(i, memory_peak_mib=peak, wall_secs=peak / 10, cpu_secs=peak / 4) for i, peak in enumerate(peaks)])
    cuts = statistics.quantiles(peaks, n=20, method="inclusive")
    assert group["job"] == "train" and group["task"] is None and group["runs"] == group["ok"] == 41
    assert group["memory_peak_mib"] == {"p50": pytest.approx(cuts[9]), "p95": pytest.approx(cuts[18]), "max": max(peaks)}
    assert group["wall_secs"]["p95"] == pytest.approx(cuts[18] / 10) and group["cpu_secs"]["max"] == pytest.approx(max(peaks) / 4)
    assert group["core_hours"] == pytest.approx(sum(peaks) / 4 / 3600)


def test_failed_and_cut_runs_are_counted_with_their_reason_and_in_no_percentile(groups):
    ends = [("failed", 3, None), ("failed", 3, None), ("killed", None, 11), ("oom", None, 9), ("lost", None, None), ("stopped", None, None),
            ("running", None, None)]
    lines = [line(i) for i in range(5)]
    lines += [line(10 + i, outcome=outcome, exit_code=code, signal=signo, memory_peak_mib=9000.0, wall_secs=9000.0, cpu_secs=3600.0,
                   oom_had_mib=4000.0 if outcome == "oom" else None) for i, (outcome, code, signo) in enumerate(ends)]
    group, = groups(lines)
    assert (group["runs"], group["ok"], group["failed"], group["cut"]) == (12, 5, 5, 2)
    assert group["reasons"] == {"exit 3": 2, "SIGSEGV": 1, "out of memory": 1, "no end": 1, "stopped": 1, "running": 1}
    assert group["memory_peak_mib"] == {"p50": 1024.0, "p95": 1024.0, "max": 1024.0} and group["wall_secs"]["max"] == 100.0
    assert group["oom_had_mib"] == 4000.0 and group["failed_core_hours"] == 5.0


def test_waste_is_the_unused_part_of_the_request(groups):
    asked, limited, unknown = (groups([line(i, **changes) for i in range(36)])[0] for changes in (
        {}, {"cores_asked": None, "memory_asked_mib": None, "cores_limit": 3.0, "cores_limit_source": "cgroup limit",
             "memory_limit_mib": 2048.0, "memory_limit_source": "cgroup limit"},
        {"cores_asked": None, "memory_asked_mib": None}))
    assert asked["unused_core_hours"] == pytest.approx(2.0) and asked["unused_gib_hours"] == pytest.approx(3.0)
    assert limited["unused_core_hours"] == pytest.approx(1.0) and limited["unused_gib_hours"] == pytest.approx(1.0)
    assert unknown["unused_core_hours"] is None and unknown["unused_gib_hours"] is None and unknown["runs_with_cores_asked"] == 0


def test_a_run_lasts_as_long_as_the_descendants_that_it_waited_for(groups):
    """The core hours that were asked for and not used are of that time, too. An older line has no such key."""
    line_of_both = line(0, tree_wall_secs=7200.0, cores_asked=2.0, cores_mean=0.5)
    found = groups([line_of_both])[0]
    assert found["wall_secs"]["max"] == 7200.0 and found["unused_core_hours"] == 3.0
    del line_of_both["tree_wall_secs"]
    assert groups([line_of_both])[0]["wall_secs"]["max"] == 100.0


def test_waste_of_memory_says_nothing_about_cores(run, groups, tmp_path):
    group, = groups([line(i, cores_asked=None) for i in range(36)])
    assert group["unused_core_hours"] is None and group["unused_gib_hours"] == pytest.approx(3.0)
    assert (group["runs_with_cores_asked"], group["runs_with_memory_asked"]) == (0, 36)
    assert run("history", tmp_path / "runs.jsonl").out.splitlines()[1].split()[-2:] == ["-", "3.00"]


def test_hours_of_gpus_without_work_are_added_up_and_lead_the_order(run, groups, tmp_path):
    lines = [line(i, name="train", gpus=4, gpu_idle_hours=hours) for i, hours in enumerate((1.5, 0.25, None))]
    lines[1] |= {"outcome": "failed", "exit_code": 2}
    found = groups([*lines, *(line(10 + i, name="wide", cores_asked=16.0) for i in range(4)), line(20, name="small")])
    by_name = {one["job"]: one for one in found}
    assert found[0]["job"] == "train" and (by_name["train"]["unused_gpu_hours"], by_name["train"]["runs_with_gpus"]) == (1.75, 2)
    assert (by_name["wide"]["unused_gpu_hours"], by_name["wide"]["runs_with_gpus"]) == (None, 0)
    assert by_name["train"]["reasons"] == {"exit 2": 1}
    text = run("history", tmp_path / "runs.jsonl").out
    assert text.count("GPU hours") == 1 and "GPUs had no work for 1.75 GPU hours of 2 runs" in text


def test_gpus_of_a_job_with_several_recordings_count_where_each_host_has_one(groups):
    """Two tasks of one host may tell of the same GPUs."""
    for hosts, told in ((["node1", "node2"], 1.5), (["node1", "node1"], None)):
        lines = [line(i, name="train", started=1_700_000_000.0, host=host, scheduler_job="77", gpu_idle_hours=hours,
                      scheduler={"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(i)}) for i, (host, hours) in enumerate(zip(hosts, (1.0, 0.5)))]
        group, = groups(lines)
        assert (group["runs"], group["unused_gpu_hours"]) == (1, told)


def test_a_peak_at_the_limit_is_at_least_that(run, groups, tmp_path):
    lines = [line(0), line(1, memory_peak_mib=4000.0)]
    assert groups(lines)[0]["runs_at_memory_limit"] == 1
    text = run("history", tmp_path / "runs.jsonl").out
    assert ">=3.91 GiB" in text and "1 run reached the memory limit" in text


@pytest.mark.parametrize("needed, kernel, reached", [(890, 80, 1), (890, None, 0), (None, 80, 0), (1900, 0, 1), (890, 20, 0)])
def test_a_limit_counts_the_memory_of_the_kernel_for_the_job(groups, needed, kernel, reached):
    """A pipe, a socket or a page table is charged to the job's control group, and is in no process."""
    lines = [line(0, memory_peak_mib=880.0, memory_limit_mib=1000.0, memory_asked_mib=None, memory_needed_mib=needed, memory_kernel_mib=kernel)]
    assert groups(lines)[0]["runs_at_memory_limit"] == reached


def test_drift_compares_the_newest_runs_with_those_before_and_says_how_many(run, groups, tmp_path):
    rng = random.Random(7)
    steady = [line(i, memory_peak_mib=1000 + rng.uniform(-20, 20)) for i in range(60)]
    grown = [line(100 + i, memory_peak_mib=1500 + rng.uniform(-20, 20)) for i in range(20)]
    shuffled = steady + grown
    rng.shuffle(shuffled)
    drift = groups(shuffled)[0]["memory_drift"]
    assert drift["new_runs"] == 20 and drift["old_runs"] == 60 and drift["is_clear"]
    assert drift["change_pct"] == pytest.approx(50, abs=2)
    assert "memory +50 %: the last 20 runs against 60 before them" in run("history", tmp_path / "runs.jsonl").out.replace("+49", "+50").replace("+51", "+50")
    assert not groups(steady)[0]["memory_drift"]["is_clear"]
    assert groups(steady[:9])[0]["memory_drift"]["change_pct"] is None


def test_groups_are_by_job_and_task_or_as_told_the_most_wasteful_first(groups):
    lines = [line(0), line(1, task="load"), line(2, task="load", host="node-2"), line(3, name="other", cores_asked=40.0, tags={"team": "a\tb"})]
    assert [(group["job"], group["task"], group["runs"]) for group in groups(lines)] == [
        ("other", None, 1), ("train", "load", 2), ("train", None, 1)]
    assert [(group["host"], group["runs"]) for group in groups(lines, "--by", "host")] == [("node-1", 3), ("node-2", 1)]
    assert [(group["tag:team"], group["job"]) for group in groups(lines, "--by", "tag:team,job")] == [("a\tb", "other"), ("blue", "train")]
    assert [group["tag:none"] for group in groups(lines, "--by", "tag:none")] == [None]
    assert [group["job"] for group in groups(lines, "--job", "other")] == ["other"]


@pytest.mark.parametrize("words", ["", "job,", "job,colour", "tag:", "job," * 8 + "job"])
def test_a_wrong_by_is_refused(run, words):
    assert run("history", "--by", words, "x").returncode == 2


def test_a_name_with_quotes_is_found(groups):
    name = 'say "hé" \\ \t'
    assert [group["job"] for group in groups([line(0, name=name), line(1)], "--job", name)] == [name]


def test_lines_that_are_damaged_or_newer_are_told_in_one_line_and_left_out(run, tmp_path):
    good = [json.dumps(line(i)) for i in range(3)]
    bad = ['{"schema":1,"id":"torn', "not json", '{"schema":1}', '{"timestamp":1}', good[0] + "}", "{}", "[1]"]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([good[0], *bad[:4], "", json.dumps(line(9, schema=2)), good[1], *bad[4:], good[2]]))
    result = run("history", "--json", path)
    answer = json.loads(result.stdout)
    assert (answer["runs"], answer["damaged_lines"], answer["newer_lines"]) == (3, 7, 1)
    assert result.err == ("resource-tracker history: left out: 7 damaged lines, and 1 line of schema 2 (this program knows schema 1; "
                          "a newer one reads more)\n")
    assert result.returncode == 0


LEFT_OUT = "1 damaged line, and 2 lines of schema 9 (this program knows schema 1; a newer one reads more)"


def test_advice_from_lines_tells_of_those_that_it_left_out(run, tmp_path):
    newer = [line(i, schema=schema) for i, schema in enumerate((2, 9))]
    write(tmp_path / "runs.jsonl", [*newer, *(line(i) for i in range(10, 14))])
    with open(tmp_path / "runs.jsonl", "a") as file:
        file.write('{"schema":1,"id":"torn')
    answer = json.loads(run("recommend", "--json", "--history", "runs.jsonl", "--job", "train").out)
    assert {note["rule"]: note["text"] for note in answer["notes"]}["lines_left_out"] == f"left out of the files of runs: {LEFT_OUT}"
    write(tmp_path / "runs.jsonl", newer)
    result = run("recommend", "--history", "runs.jsonl", "--job", "train")
    assert (result.returncode, result.err) == (
        1, "resource-tracker recommend: runs.jsonl: left out: 2 lines of schema 9 (this program knows schema 1; a newer one reads more)\n")


def test_several_lines_of_a_run_count_once_with_its_end(groups):
    first = line(0, outcome="running", memory_peak_mib=10.0)
    group, = groups([first, line(0), line(0, outcome="lost"), line(1)])
    assert group["runs"] == group["ok"] == 2
    assert [group["runs"] for group in groups([line(i, id=None) for i in range(3)])] == [3]


def test_files_may_be_compressed_and_globs_and_standard_input(run, tmp_path):
    for i in range(3):
        text = "".join(json.dumps(line(10 * i + j)) + "\n" for j in range(4)).encode()
        # Appended files of gzip have several members.
        (tmp_path / f"runs-{i}.jsonl.gz").write_bytes(gzip.compress(text[:500]) + gzip.compress(text[500:]))
    for words in (["runs-*.jsonl.gz"], ["runs-0.jsonl.gz", "runs-[12]*"]):
        answer = json.loads(run("history", "--json", *words).stdout)
        assert (answer["runs"], answer["files"], answer["damaged_lines"]) == (12, 3, 0)
    assert json.loads(run("history", "--json", "-", stdin=text).stdout)["runs"] == 4
    missing = run("history", "missing.jsonl", "runs-0.jsonl.gz")
    assert missing.returncode == 1 and "missing.jsonl" in missing.err and "train" in missing.out


def test_a_recording_is_refused(run, tmp_path):
    recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
    result = run("history", "run.jsonl")
    assert result.returncode == 1 and "no line is a run's; resource-tracker runs add makes them of recordings" in result.err


def test_names_that_would_control_the_terminal_are_cleaned(run, tmp_path):
    write(tmp_path / "runs.jsonl", [line(0, name="\x1b[31mred\n\x01\x02", task="\x01"), line(1, name="é" * 100)])
    result = run("history", "runs.jsonl")
    assert "\x1b" not in result.out and "?[31mred" in result.out
    raw = b'{"schema":1,"outcome":"ok","name":"a\x01\x02b\x00c","task":"x"}\n'
    (tmp_path / "raw.jsonl").write_bytes(raw)
    group, = json.loads(run("history", "--json", "raw.jsonl").stdout)["groups"]
    assert group["job"] == "abc" and group["task"] == "x"


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_the_table_fits_the_screen(run, tmp_path, columns):
    lines = [line(i, name=f"a job with a long name of its own {i % 3}", task="load", memory_peak_mib=4000.0, outcome="oom" if i % 5 == 0 else "ok",
                  oom_had_mib=4096.0) for i in range(60)]
    write(tmp_path / "runs.jsonl", lines)
    text = run("history", "-n", "2", "runs.jsonl", env={"COLUMNS": str(columns)}).out
    rows = text.splitlines()
    assert max(map(len, rows)) <= columns and rows[0].startswith("JOB (TASK)") and rows[-1] == "1 more rows: resource-tracker history -n 0"
    assert "4 out of memory" in text and ("CPU P95" in rows[0]) == (columns > 100)


def test_without_a_file_the_own_history_counts(binary, tmp_path):
    environment = {**clean_environment(), "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "dumb"}
    del environment["TRACKER_HISTORY"]
    empty = subprocess.run([binary, "history"], env=environment, capture_output=True, text=True)
    assert empty.returncode == 1 and "no run has been kept yet" in empty.stderr
    leader, follower = pty.openpty()
    subprocess.run([binary, "-q", "--", "true"], env=environment, stdin=follower, stdout=follower, stderr=follower, check=True)
    os.close(leader)
    os.close(follower)
    answer = json.loads(subprocess.run([binary, "history", "--json"], env=environment, capture_output=True, check=True).stdout)
    assert [(group["job"], group["ok"]) for group in answer["groups"]] == [("true", 1)]


# ---- many lines, and another engine

def sparse(lines):
    """As the program writes them: without the keys of absent values."""
    return [{key: value for key, value in one.items() if value is not None} for one in lines]


def many(path, count):
    """Lines as long as real ones."""
    rng = random.Random(1)
    filler = {f"figure_{i}": 1000.125 + i for i in range(32)}
    with open(path, "w") as file:
        for i in range(count):
            peak = round(rng.lognormvariate(6, 0.3), 3)
            one = line(i, name=f"job-{i % 40}", task=f"step-{i % 3}", memory_peak_mib=peak, wall_secs=round(peak / 7, 6),
                       outcome=rng.choice(["ok"] * 9 + ["failed"]), array_task=str(i) if i % 4 else None, cores_asked=4.0 if i % 5 else None)
            file.write(json.dumps({**sparse([one])[0], **filler}) + "\n")
    return path


# The kernel's peak of a process includes that of the program which forked it, so a small one forks the reader.
MEASURE = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


@pytest.mark.cost
@pytest.mark.timeout(120)
def test_100_000_lines_take_a_second_and_64_mib(binary, tmp_path):
    path = many(tmp_path / "runs.jsonl", 100_000)
    least = None
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", MEASURE, binary, "history", "--json", path], capture_output=True, text=True, env=clean_environment())
        status, secs, kib = done.stdout.split()
        least = float(secs) if least is None else min(least, float(secs))
        assert status == "0" and int(kib) <= 64 << 10, done
    assert least < 1


def python_with_duckdb():
    for python in sys.executable, BUILD / "fleet" / "venv" / "bin" / "python":
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", "import duckdb"], capture_output=True).returncode == 0:
            return str(python)
    return pytest.skip("no Python here has DuckDB; bench/fleet installs it")


def test_lines_of_all_builds_are_read_alike(run, groups, tmp_path):
    """Earlier builds wrote null for unknown, and the figures of GPUs where there are none."""
    earlier = [line(i, gpus=0, gpu_mean=0.0, oom_had_mib=900.0 if i % 3 else None, cores_asked=4.0 if i % 2 else None,
                    task="load" if i % 5 else None) for i in range(30)]
    later = [{key: value for key, value in one.items() if not key.startswith("gpu_")} for one in sparse(earlier)]
    mixed = [one for pair in zip(earlier[::2], later[1::2]) for one in pair]
    answers = []
    for lines in earlier, later, mixed:
        found = groups(lines)
        answers.append((found, run("recommend", "--json", "--history", "runs.jsonl", "--job", "train").out))
    assert answers[0] == answers[1] == answers[2] and len(found) == 2 and json.loads(answers[0][1])["gpu"] == 0


def duckdb_rows(python, folder, *queries):
    program = "import duckdb, json, sys; print(json.dumps([duckdb.sql(q).fetchall() for q in sys.argv[1:]]))"
    return json.loads(subprocess.run([python, "-c", program, *queries], cwd=folder, capture_output=True, check=True).stdout)


def test_duckdb_finds_percentiles_of_keys_that_only_late_lines_have(run, tmp_path):
    """DuckDB looks for keys in 20,480 lines and 32 files; a null there would make it drop later values without a word."""
    python, late = python_with_duckdb(), 22_000
    lines = [line(i, task=None, memory_asked_mib=None) if i < late else line(i, task="load", memory_asked_mib=1000.0 + i) for i in range(late + 400)]
    for i in range(40):
        write(tmp_path / f"runs-{i:02}.jsonl", sparse(lines[i::40] if i < 39 else lines[late:]))
    write(tmp_path / "runs.jsonl", sparse(lines))
    columns = "columns = {name: 'varchar', task: 'varchar', wall_secs: 'double', memory_asked_mib: 'double', memory_peak_mib: 'double'}"
    figures = "count(memory_asked_mib), quantile_cont(memory_asked_mib, 0.95)"
    usual, whole, named, union = duckdb_rows(
        python, tmp_path, "select quantile_cont(memory_peak_mib, 0.95), count(*) from read_json_auto('runs.jsonl')",
        f"select {figures} from read_json_auto('runs.jsonl', sample_size = -1)",
        f"select task, {figures} from read_json('runs.jsonl', {columns}) group by task order by task nulls first",
        f"select {figures} from read_json_auto(['runs-38.jsonl', 'runs-39.jsonl'], union_by_name = true)")
    p95 = pytest.approx(1000.0 + late + 0.95 * 399)
    assert usual == [[1024.0, late + 400]] and whole == [[400, p95]] and named == [[None, 0, None], ["load", 400, p95]]
    assert union[0][0] == 410
    refused = subprocess.run([python, "-c", "import duckdb; duckdb.sql(\"select memory_asked_mib from read_json_auto('runs.jsonl')\")"],
                             cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode and '"memory_asked_mib" not found' in refused.stderr, "a loss is told"


def test_duckdb_reads_the_lines_as_they_are_and_finds_the_same_percentiles(run, tmp_path):
    python = python_with_duckdb()
    recordings.steady(tmp_path / "a.jsonl")
    run("runs", "add", "--runs", "real.jsonl", "a.jsonl", "a.jsonl")
    many(tmp_path / "runs.jsonl", 2000)
    query = ("select name, task, quantile_cont(memory_peak_mib, 0.95) filter (outcome = 'ok'), "
             "quantile_cont(wall_secs, 0.5) filter (outcome = 'ok') from read_json_auto('runs.jsonl') group by name, task")
    program = ("import duckdb, json, sys; print(json.dumps([duckdb.sql(sys.argv[1]).fetchall(), "
               "duckdb.sql(\"select wall_secs, outcome, memory_peak_mib from read_json_auto('real.jsonl')\").fetchall()]))")
    rows, real = json.loads(subprocess.run([python, "-c", program, query], cwd=tmp_path, capture_output=True, check=True).stdout)
    answer = json.loads(run("history", "--json", "runs.jsonl").stdout)
    own = {(group["job"], group["task"]): (group["memory_peak_mib"]["p95"], group["wall_secs"]["p50"]) for group in answer["groups"]}
    assert own == {(name, task): (pytest.approx(p95), pytest.approx(p50)) for name, task, p95, p50 in rows}
    assert real == [[8.0, "ok", 100.0]] * 2


DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "FLEET.md"


def queries_of_the_document(language):
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    assert found
    return found


def test_the_waste_of_the_document_is_null_where_history_says_so(run, tmp_path):
    """greatest() of DuckDB passes over null: jobs without a request wasted 0."""
    lines = [line(0, name="none", cores_asked=None, memory_asked_mib=None), line(1, name="all", cores_asked=1.0, memory_asked_mib=512.0), line(2, name="part")]
    write(tmp_path / "runs.jsonl", sparse(lines))
    query, = (query for query in queries_of_the_document("sql") if "gib_hours" in query)
    rows, = duckdb_rows(python_with_duckdb(), tmp_path, query)
    groups = json.loads(run("history", "--json", "runs.jsonl").stdout)["groups"]
    wasted = {group["job"]: (group["unused_core_hours"], group["unused_gib_hours"]) for group in groups}
    assert wasted["none"] == (None, None) and wasted["all"] == (0.0, 0.0) and wasted["part"][0] > 0
    assert {name: (cores and pytest.approx(cores), gib and pytest.approx(gib)) for name, _, cores, gib in rows} == wasted


@pytest.fixture
def lake(tmp_path):
    """A folder with the files that the document's queries name."""
    many(tmp_path / "runs.jsonl", 300)
    for day, host in (("20", "a"), ("21", "b")):
        folder = tmp_path / "runs" / f"date=2026-11-{day}" / f"host=node-{host}"
        folder.mkdir(parents=True)
        (folder / "runs.jsonl.gz").write_bytes(gzip.compress((tmp_path / "runs.jsonl").read_bytes()))
    return tmp_path


def test_each_query_of_the_document_runs_in_duckdb(lake):
    python = python_with_duckdb()
    program = "import duckdb, json, sys; print(json.dumps([[len(duckdb.sql(q).fetchall()) for q in sys.argv[1:]]]))"
    counts, = json.loads(subprocess.run([python, "-c", program, *queries_of_the_document("sql")], cwd=lake, capture_output=True, check=True).stdout)
    assert counts == [40, 20, 1, 300, 1]


def test_the_clickhouse_query_finds_the_same_percentiles(run, lake):
    pytest.importorskip("chdb", reason="chdb (534 MB) is not installed")
    query, = queries_of_the_document("clickhouse")
    program = "import chdb, sys; print(chdb.query(sys.argv[1], 'JSONEachRow'))"
    out = subprocess.run([sys.executable, "-c", program, query], cwd=lake, capture_output=True, check=True).stdout
    rows = [json.loads(row) for row in out.splitlines() if row.strip()]
    groups = json.loads(run("history", "--json", lake / "runs.jsonl").stdout)["groups"]
    assert {(row["name"], row["task"]): row["memory_p95_mib"] for row in rows} == {
        (group["job"], group["task"]): pytest.approx(group["memory_peak_mib"]["p95"]) for group in groups}


# ---- advice from lines

def advice(run, *arguments):
    result = run("recommend", "--json", *arguments)
    assert result.returncode == 0, result.err
    answer = json.loads(result.stdout)
    return {key: answer[key] for key in ("cpu", "memory", "gpu", "vram", "refused", "cpu_limit", "runs", "runs_left_out")}


def later(path, secs):
    """Moves the times of a recording."""
    samples = json_lines(path)
    for one in samples:
        one["timestamp"] += secs
        one["timestamp_secs"] += secs
    return recordings.write(path, samples)


def slurm(number, tasks):
    return dict(recordings.NO_LIMITS, scheduler={"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(number),
                                                 "SLURM_NTASKS": str(tasks), "SLURM_JOB_NUM_NODES": "1"})


CASES = {
    "one run": [{}],
    "several runs": [{"memory": 100.0 * i, "cores": 0.5 * i} for i in range(1, 7)],
    "rising peaks": [{"memory": 500.0 + 50 * i} for i in range(12)],
    "a kill": [{"memory": 300.0}, {"memory": 900.0, "end": {"reason": "signal", "signal": 9, "exit_code": None, "oom_kills": 1}}],
    "a failure and a thin run": [{"end": {"exit_code": 3}}, {"memory": 700.0, "count": 1}, {"memory": 200.0}],
    "no end": [{"end": False, "memory": 800.0}, {"memory": 200.0}],
    "GPUs": [{"gpu": 1.7, "vram": 3000.0}],
    "GPUs that are not known": [{"gpu": None, "vram": None}],
    "GPUs that some runs had": [{"gpu": 1.7, "vram": 3000.0}, {}, {"gpu": None, "vram": None}],
    "ranks": [{"rank": 0, "start": slurm(0, 4), "memory": 300.0}, {"rank": 1, "start": slurm(1, 4), "memory": 500.0}],
    "only thin runs": [{"count": 1}],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["max", "p95"])
def test_lines_give_the_same_advice_as_their_recordings(run, tmp_path, case, policy):
    files = []
    for i, changes in enumerate(CASES[case]):
        start = {**recordings.NO_LIMITS, **changes.get("start", {}), "run_id": f"id-{i}"}
        path = recordings.steady(tmp_path / f"{i}.jsonl", **{**changes, "start": start})
        files.append(path if case == "ranks" else later(path, 1000 * i))
    run("runs", "add", "--runs", "runs.jsonl", *files)
    assert advice(run, "--policy", policy, "--history", "runs.jsonl") == advice(run, "--policy", policy, *files)


def test_advice_is_of_the_job_and_task_that_are_named(run, tmp_path):
    lines = [line(i, name=name, job_name=name, task=task, memory_needed_mib=peak, memory_peak_mib=peak) for i, (name, task, peak) in
             enumerate([("a", "x", 1000.0), ("a", "y", 2000.0), ("b", None, 4000.0)])]
    write(tmp_path / "runs.jsonl", lines)
    memory = [advice(run, "--history", "runs.jsonl", *words)["memory"] for words in (["--job", "a"], ["--job", "a", "--task", "x"], ["--job", "b"])]
    assert memory == [3040, 1200, 4800]
    for words, message in ((["runs.jsonl"], "has runs of several jobs: choose one with --job"),
                           (["runs.jsonl", "--job", "c"], "none of its 3 runs is of this job"),
                           ([], "name a recording, or a job of the history with --job")):
        result = run("recommend", *words)
        assert result.returncode and message in result.err


def test_a_recording_is_counted_once_beside_its_own_line_and_chooses_the_job(run, tmp_path):
    start = {**recordings.NO_LIMITS, "run_id": "run-1"}
    recording = recordings.steady(tmp_path / "run.jsonl", memory=100.0, start=start)
    write(tmp_path / "runs.jsonl", [line(1, name="demo", job_name="demo"), line(2, name="demo", job_name="demo"), line(3, name="other", memory_needed_mib=9e5)])
    answer = advice(run, recording, "--history", "runs.jsonl")
    assert answer["runs"] == 2 and answer["memory"] == 1568


def test_the_newest_200_runs_of_a_job_count_in_any_order(run, tmp_path):
    lines = [line(i, memory_peak_mib=10_000.0 if i < 30 else 1000.0, memory_needed_mib=10_000.0 if i < 30 else 1000.0) for i in range(230)]
    random.Random(3).shuffle(lines)
    write(tmp_path / "runs.jsonl", lines)
    answer = advice(run, "--history", "runs.jsonl")
    assert answer["runs"] == 200 and answer["memory"] == 1024


# ---- the lines of one Slurm job

def slurm(number, job, started, wall, cpu, *, step=None, host="node-1", asked=2.0, rank=None, **changes):
    variables = {"SLURM_JOB_ID": job, "SLURM_MEM_PER_NODE": "1024", **({} if step is None else {"SLURM_STEP_ID": str(step), "SLURM_PROCID": str(rank or 0)})}
    return line(0, id=f"run-{number}", name="train", scheduler_job=job, scheduler=variables, started=1_700_000_000.0 + started, wall_secs=wall, cpu_secs=cpu,
                cores_mean=cpu / wall, cores_asked=asked, memory_asked_mib=1024.0, host=host, rank=rank, **changes)


def three_steps(job, **last):
    return [slurm(f"{job}-b", job, 0.0, 18.0, 0.1, memory_peak_mib=5.0), slurm(f"{job}-0", job, 0.0, 6.0, 5.4, step=0, asked=1.0, memory_peak_mib=100.0),
            slurm(f"{job}-1", job, 6.0, 6.0, 6.0, step=1, memory_peak_mib=300.0), slurm(f"{job}-2", job, 12.0, 6.0, 5.4, step=2, memory_peak_mib=200.0, **last)]


def test_the_lines_of_a_slurm_job_are_one_run(groups):
    """2 cores for 18 s, of which 16.9 core-s were used; 1 GiB, of which 305 MiB."""
    group, = groups(three_steps("7"))
    assert (group["runs"], group["ok"], group["failed"]) == (1, 1, 0)
    assert group["unused_core_hours"] * 3600 == pytest.approx(36 - 16.9) and group["unused_gib_hours"] * 3600 == pytest.approx((1024 - 305) / 1024 * 18)
    assert (group["cores_asked"], group["memory_asked_mib"]) == (2.0, 1024.0)
    assert (group["wall_secs"]["max"], group["memory_peak_mib"]["max"]) == (18.0, 305.0)
    assert group["cpu_secs"]["max"] == pytest.approx(16.9) and group["cores_mean"]["max"] == pytest.approx(16.9 / 18)


def test_one_failing_step_is_one_failed_job(groups):
    lines = three_steps("7", outcome="failed", exit_code=3)
    lines[0].update(outcome="failed", exit_code=3)
    group, = groups(lines)
    assert (group["runs"], group["failed"], group["reasons"]) == (1, 1, {"exit 3": 1})
    # The script decides: it may have expected the step to fail.
    group, = groups(three_steps("8", outcome="failed", exit_code=3))
    assert (group["ok"], group["failed"]) == (1, 0)
    # Without the script, a failed step is a failed job.
    group, = groups(three_steps("9", outcome="failed", exit_code=3)[1:])
    assert (group["runs"], group["failed"]) == (1, 1)
    lines = three_steps("7", outcome="oom", exit_code=137, oom_had_mib=1024.0)
    lines[0].update(outcome="failed", exit_code=137)
    group, = groups(lines)
    assert (group["failed"], group["reasons"], group["oom_had_mib"]) == (1, {"out of memory": 1}, 1024.0)


def test_ranks_on_several_nodes_have_the_request_of_each(groups):
    """4 ranks of 1 core on 2 nodes, without a script's line: 4 cores, and 1 GiB on each node."""
    ranks = [slurm(i, "7", 0.0, 10.0, 5.0, step=0, host=f"node-{i // 2}", asked=1.0, rank=i, memory_peak_mib=256.0) for i in range(4)]
    group, = groups(ranks)
    assert (group["runs"], group["cores_asked"], group["memory_peak_mib"]["max"]) == (1, 4.0, 512.0)
    assert group["unused_core_hours"] * 3600 == pytest.approx(20.0) and group["unused_gib_hours"] * 3600 == pytest.approx(2 * 0.5 * 10)
    by_cpu = [{**one, "memory_asked_mib": 600.0, "scheduler": {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_MEM_PER_CPU": "600"}} for one in ranks]
    assert groups(by_cpu)[0]["memory_asked_mib"] == 1200.0


def test_only_lines_of_one_job_are_joined(groups):
    lines = [*three_steps("7"), *three_steps("8"), {**three_steps("7")[0], "id": "again", "attempt": "1"}]
    assert groups(lines)[0]["runs"] == 3
    tasks = [{**one, "task": "align"} for one in three_steps("7")]
    assert groups(tasks)[0]["runs"] == 4
    others = [line(i, scheduler_job="run-1", scheduler={"GITHUB_RUN_ID": "run-1"}) for i in range(3)]
    assert groups(others)[0]["runs"] == 3
    # A line of a job that was still running, and the job's line after its end.
    job = three_steps("7")
    assert groups([{**job[2], "outcome": "running", "wall_secs": 1.0}, *job])[0]["unused_core_hours"] * 3600 == pytest.approx(36 - 16.9)


def test_a_name_is_one_job_however_it_is_escaped(run, tmp_path):
    names = [("日本", '"\\u65e5\\u672c"'), ("日本", '"日本"'), ("a/b", '"a\\/b"'), ("a/b", '"a/b"'), ("x\x01y", '"x\\u0001y"'), ("xy", '"xy"'),
             ("\U0001f600", '"\\ud83d\\ude00"'), ("\U0001f600", '"\U0001f600"')]
    (tmp_path / "runs.jsonl").write_text("".join(f'{{"schema":1,"outcome":"ok","name":{raw},"task":"t\\u00e9","user":"ann"}}\n' for _, raw in names))
    groups = json.loads(run("history", "--json", "runs.jsonl").stdout)["groups"]
    assert sorted((group["job"], group["task"], group["runs"]) for group in groups) == [
        ("a/b", "té", 2), ("x\x01y", "té", 1), ("xy", "té", 1), ("日本", "té", 2), ("\U0001f600", "té", 2)]
    by_user, = json.loads(run("history", "--json", "--by", "user", "runs.jsonl").stdout)["groups"]
    # recommend takes a file of one job without --job.
    one = json.dumps({key: value for key, value in line(0, name="NAME").items() if value is not None})
    (tmp_path / "one.jsonl").write_text("".join(one.replace('"NAME"', raw).replace("run-0", f"run-{i}") + "\n" for i, (_, raw) in enumerate(names[:2])))
    advice = run("recommend", "--json", "--history", "one.jsonl")
    assert advice.returncode == 0 and json.loads(advice.out)["runs"] == 2, advice.err
    assert (by_user["user"], by_user["runs"]) == ("ann", 8)


def test_only_runs_since_a_time(run, tmp_path):
    now = time.time()
    write(tmp_path / "runs.jsonl", [line(i, started=now - 3600 * hours) for i, hours in enumerate((1, 30, 24 * 40))])
    counts = {words: json.loads(run("history", "--json", "--since", words, "runs.jsonl").stdout)["runs"] for words in ("2h", "2d", "1000d", "2000-01-31")}
    assert counts == {"2h": 1, "2d": 2, "1000d": 3, "2000-01-31": 3}
    result = run("history", "--since", "1m", "runs.jsonl")
    assert result.returncode == 1 and result.err == "resource-tracker history: no run started since then\n"
    for words in ("yesterday", "2026-13-01", "2026-02-30", "2026-11", "-1d", "0", ""):
        assert run("history", "--since", words, "runs.jsonl").returncode == 2, words


@pytest.mark.plain
@pytest.mark.timeout(120)
def test_a_million_lines_take_64_mib(binary, tmp_path):
    """All of one job, which is the case that takes most: its values are sorted at once."""
    rng, path = random.Random(3), tmp_path / "runs.jsonl"
    with open(path, "w") as file:
        for i in range(1_000_000):
            file.write(f'{{"schema":1,"id":"{rng.getrandbits(64):x}","outcome":"ok","name":"job","started":{1_700_000_000 + i}.{i % 1000:03},'
                       f'"wall_secs":{rng.random() * 9000:.6f},"cpu_secs":{rng.random() * 9000:.6f},"cores_mean":{rng.random() * 8:.4f},'
                       f'"memory_peak_mib":{rng.random() * 9000:.3f},"cores_asked":8.0,"memory_asked_mib":16384.0}}\n')
    used, status, out = in_memory(binary, "history", path)
    assert status == 0 and used <= 64 << 10, (used, out)
    assert out.splitlines()[1].split()[:2] == ["job", "1000000"]


def test_numbers_come_back_exactly_from_the_packed_lines(groups):
    values = [0.0, 1e-7, 0.1 + 0.2, 123456.789012, 1e300, 5e-324, 9007199254740993.0, 1 / 3, 98765432.1]
    for value in values:
        group, = groups([line(0, memory_peak_mib=value, wall_secs=value)])
        assert group["memory_peak_mib"]["max"] == pytest.approx(value, rel=1e-8) and group["wall_secs"]["p50"] == pytest.approx(value, rel=1e-8)
