"""Samples in files: earlier content is kept, records are whole, and a job never pays for a file that fails."""
import errno
import fcntl
import gzip
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts a file system or makes another user's file")
SOMEBODY = 65534


def assert_refused(result, *words):
    """The tracker's own error: one line, status 125, and no job."""
    assert result.returncode == 125
    lines = result.err.splitlines()
    assert len(lines) == 1, lines
    for word in words:
        assert word in lines[0]


@pytest.fixture
def job(tmp_path):
    """A job that creates a file, which shows whether it ran."""

    class Job:
        mark = tmp_path / "the-job-ran"
        command = ["sh", "-c", f"touch '{mark}'; exit 7"]

        def ran(self):
            return self.mark.exists()

    return Job()


def test_an_earlier_recording_becomes_file_1_2_3(run, tmp_path, helpers):
    path = tmp_path / "run.jsonl"
    for number in range(4):
        result = run("-o", path, "-n", f"run-{number}", "--", "true")
        assert result.returncode == 0
    names = {sample["job_name"]: name for name in ("run.jsonl", "run.jsonl.1", "run.jsonl.2", "run.jsonl.3")
             for sample in helpers.json_lines(tmp_path / name)}
    assert names == {"run-0": "run.jsonl.1", "run-1": "run.jsonl.2", "run-2": "run.jsonl.3", "run-3": "run.jsonl"}


def members(path):
    """The lines of a compressed file, which is whole at any moment."""
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@pytest.mark.parametrize("name", ["run.jsonl.gz", "run.csv.gz"])
def test_an_output_with_gz_is_gzip_also_while_it_is_written(spawn, run, tmp_path, helpers, name):
    path = tmp_path / name
    process = spawn("-q", "-i", 0.05, "-o", path, "-o", tmp_path / name[:-3], "--", "sleep", "30")
    helpers.wait_until(lambda: path.exists() and path.stat().st_size and len(members(path)) > 3, what="some samples")
    process.send_signal(signal.SIGTERM)
    process.wait(20)
    lines = members(path)
    assert "\n".join(lines) + "\n" == (tmp_path / name[:-3]).read_text()
    assert name.endswith(".csv.gz") or path.stat().st_size < 0.6 * len("\n".join(lines))
    assert run("stats" if name.endswith(".csv.gz") else "summary", path).returncode == 0


@pytest.mark.parametrize("name", ["run.jsonl.gz", "run.csv.gz"])
def test_a_killed_recorder_leaves_whole_samples_to_which_the_next_appends(spawn, run, tmp_path, helpers, name):
    path = tmp_path / name
    process = spawn("-q", "-i", 0.05, "-o", path, "--", "sleep", "2")
    helpers.wait_until(lambda: path.exists() and path.stat().st_size and len(members(path)) > 3, what="some samples")
    process.kill()
    process.wait()
    before = members(path)
    torn = path.read_bytes()
    for cut in (1, 7, 100):
        path.write_bytes(torn[:-cut])
        done = run("-q", "--append", "-i", 10, "-o", path, "--", "true")
        assert done.returncode == 0 and " bytes of a torn last line were removed from " in done.err
        lines = members(path)
        assert lines[:len(before) - 1] == before[:-1] and len(lines) == len(before)
    assert run("-q", "--append", "-i", 10, "-o", path, "--", "true").err == ""
    assert len(members(path)) == len(before) + 1
    assert run("stats" if name.endswith(".csv.gz") else "summary", path).returncode == 0


def test_compressed_recordings_are_renamed_and_mixed_with_nothing_else(run, tmp_path, job):
    path, plain, other = (tmp_path / name for name in ("run.jsonl.gz", "run.jsonl", "other.jsonl.gz"))
    for _ in range(2):
        assert run("-q", "-o", path, "-o", plain, "--", "true").returncode == 0
    assert len(members(path)) == len(members(tmp_path / "run.jsonl.gz.1"))
    other.write_bytes(gzip.compress(b"the thesis"))
    assert_refused(run("-o", other, "--", *job.command), "it has content that is not a recording")
    plain.rename(tmp_path / "text.jsonl.gz")
    for name, form, reason in (("text.jsonl.gz", "json", "it holds text, and compressed samples cannot be appended"),
                               ("run.jsonl.gz", "csv", "its samples have the other format")):
        assert_refused(run("--append", "-f", form, "-o", tmp_path / name, "--", *job.command), reason)
    path.rename(tmp_path / "packed.jsonl")
    assert_refused(run("--append", "-o", tmp_path / "packed.jsonl", "--", *job.command), "it is compressed, and text cannot be appended")
    assert not job.ran()
    # Ours can follow whole members of another program.
    assert run("-q", "--append", "-o", other, "--", "true").returncode == 0
    assert gzip.decompress(other.read_bytes()).startswith(b'the thesis{"timestamp')


@AS_ROOT
def test_a_full_disk_leaves_whole_compressed_samples(binary, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "disk", disk], check=False).returncode:
        pytest.skip("no mount here")
    try:
        (disk / "filler").write_bytes(bytes(32 << 10))
        done = subprocess.run([binary, "-q", "-i", "0.01", "--no-summary", "-o", disk / "run.jsonl.gz", "--", "sh", "-c",
                               f"sleep 1; rm {disk}/filler; sleep 0.3"], capture_output=True, text=True, timeout=50, check=False)
        assert done.returncode == 0 and done.stderr.count("No space left on device") == 1
        lines = members(disk / "run.jsonl.gz")
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
    assert len(lines) > 5 and all(line.startswith('{"timestamp') and line.endswith("}") for line in lines)


def test_an_empty_file_is_used(run, tmp_path, helpers):
    path = tmp_path / "run.jsonl"
    path.touch()
    assert run("-o", path, "--", "true").returncode == 0
    assert helpers.json_lines(path)
    assert not (tmp_path / "run.jsonl.1").exists()


def test_a_file_that_is_being_recorded_to_is_refused_before_the_job_starts(run, spawn, tmp_path, helpers, job):
    path = tmp_path / "run.jsonl"
    first = spawn("-o", path, "-i", 0.05, "--", "sleep", "30")
    helpers.wait_until(lambda: path.exists() and path.stat().st_size, what="the first sample")
    for more in ([], ["--append"]):
        assert_refused(run("-o", path, *more, "--", *job.command), "run.jsonl", "another recording")
    assert not job.ran()
    assert not (tmp_path / "run.jsonl.1").exists()
    before = path.stat().st_size
    helpers.wait_until(lambda: path.stat().st_size > before, what="the live recording going on")
    helpers.end_process(first)
    assert run("-o", path, "--", *job.command).returncode == 7
    assert job.ran()
    assert len(helpers.json_lines(tmp_path / "run.jsonl.1")) > 1


def test_a_job_that_outlives_the_tracker_does_not_keep_the_next_recording_out(run, spawn, tmp_path, helpers):
    path = tmp_path / "run.jsonl"
    tracker = spawn("-o", path, "-i", 0.05, "--", "sleep", "3")
    helpers.wait_until(lambda: path.exists() and path.stat().st_size, what="the first sample")
    tracker.kill()
    tracker.wait()
    assert run("-o", path, "--", "true").returncode == 0


def test_a_nested_tracker_leaves_the_outer_ones_output_alone(run, binary, tmp_path, helpers):
    result = run("-i", 60, "--", binary, "-q", "--", "sh", "-c", "exit 7", env={"TRACKER_OUTPUT": "run.jsonl"})
    assert result.returncode == 7
    assert len([line for line in result.err.splitlines() if "run.jsonl" in line]) == 1
    assert len(helpers.json_lines(tmp_path / "run.jsonl")) == 1
    assert not (tmp_path / "run.jsonl.1").exists()


@pytest.mark.parametrize("name, words", [
    ("missing/run.jsonl", ["missing/run.jsonl", "does not exist", "create it"]),
    ("folder", ["folder", "name a file in it"]),
    ("folder/", ["folder/", "name a file in it"]),
    ("file/run.jsonl", ["file/run.jsonl", "a part of its path is a file"]),
    ("socket", ["socket"]),
    ("run-%d.jsonl", ["%d"]),
    ("run%", ["%"]),
    ("/proc/rt-run.jsonl", ["/proc/rt-run.jsonl"]),
    ("n" * 300, ["too long"]),
])
def test_an_unwritable_output_is_refused_before_the_job_starts(run, tmp_path, monkeypatch, job, name, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    with socket.socket(socket.AF_UNIX) as unused:
        unused.bind("socket")
    assert_refused(run("-o", name, "--", *job.command), *words)
    assert not job.ran()
    assert (tmp_path / "file").read_text() == "text"


def test_a_link_to_a_file_with_content_is_neither_followed_nor_renamed(run, tmp_path, job):
    (tmp_path / "victim").write_text("precious\n")
    (tmp_path / "run.jsonl").symlink_to("victim")
    assert_refused(run("-o", "run.jsonl", "--", *job.command), "symbolic link", "--append")
    assert not job.ran()
    assert (tmp_path / "victim").read_text() == "precious\n"
    assert (tmp_path / "run.jsonl").is_symlink()


def test_no_link_is_followed_in_a_folder_that_everyone_may_write_to(run, tmp_path, job):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "run.jsonl").symlink_to("../new")
    assert_refused(run("-o", "shared/run.jsonl", "--", *job.command), "symbolic link")
    assert not job.ran() and not (tmp_path / "new").exists()


@AS_ROOT
def test_another_users_file_in_a_shared_folder_is_not_used(run, tmp_path, job):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "run.jsonl").touch()
    os.chown(shared / "run.jsonl", SOMEBODY, SOMEBODY)
    assert_refused(run("-o", "shared/run.jsonl", "--", *job.command), "another user")
    assert not job.ran()


def test_files_are_made_as_the_umask_says(run, tmp_path):
    assert run("-o", "run.jsonl", "--", "true", umask=0o027).returncode == 0
    assert stat.S_IMODE((tmp_path / "run.jsonl").stat().st_mode) == 0o640


def test_appending_cuts_a_torn_line_first(run, tmp_path, helpers):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"timestamp_secs":1,"resource-tracker-version":"0"}\n{"torn":"abc')
    for warnings in (["resource-tracker: 12 bytes of a torn last line were removed from " + str(path)], []):
        result = run("-o", path, "--append", "--", "true")
        assert result.returncode == 0
        assert result.err.splitlines() == warnings
    samples = helpers.json_lines(path)
    assert samples[0]["timestamp_secs"] == 1
    assert [sample["sample"] for sample in samples[1:]] == [0, 0]
    assert not (tmp_path / "run.jsonl.1").exists()


def test_append_cuts_the_zeros_that_a_power_loss_left(run, tmp_path, helpers):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"timestamp_secs":1,"resource-tracker-version":"0"}\n{"torn' + bytes(10000))
    assert run("-o", path, "--append", "--", "true").returncode == 0
    assert [sample["timestamp_secs"] == 1 for sample in helpers.json_lines(path)] == [True, False]
    path.write_bytes(bytes(10000))
    assert run("-o", path, "--append", "--", "true").returncode == 0
    assert len(helpers.json_lines(path)) == 1


@pytest.mark.parametrize("name, content", [
    ("thesis.txt", b"the last line of my thesis"), ("table.csv", b"size,time\n1,2"), ("column.csv", b"17\n18"), ("answer.csv", b"42"),
    ("app.log", b'start\n{"level": "info", "message": "no line end'), ("image.bin", b"text" + bytes(5000)), ("object.json", b'{"a": [')])
def test_append_never_destroys_the_end_of_another_programs_file(run, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    done = run("-o", path, "--append", "--", "true")
    assert (done.returncode, done.err) == (0, "")
    assert path.read_bytes().startswith(content + b"\n")


def test_append_cuts_our_torn_line_at_the_end_of_a_log(run, tmp_path):
    path = tmp_path / "app.log"
    path.write_text('start\n{"timestamp_secs":17')
    assert "20 bytes of a torn last line were removed" in run("-o", path, "--append", "--", "true").err
    assert path.read_text().startswith("start\n{") and path.read_text().count("timestamp_secs") == 1


@pytest.mark.parametrize("first,then", [("json", "csv"), ("csv", "json")])
def test_lines_of_another_format_are_not_appended(run, tmp_path, first, then):
    path = tmp_path / "record"
    assert run("-o", path, "-f", first, "--", "true").returncode == 0
    before = path.read_bytes()
    result = run("-o", path, "-f", then, "--append", "--", "touch", tmp_path / "started")
    assert result.returncode == 125 and not (tmp_path / "started").exists()
    assert result.stderr.decode().count("\n") == 1 and b"choose another output" in result.stderr
    assert path.read_bytes() == before


def test_appended_csv_has_one_header(run, tmp_path, helpers):
    path = tmp_path / "run.csv"
    for _ in range(3):
        assert run("-o", path, "--append", "--", "true").returncode == 0
        with path.open("a") as file:
            file.write("1795254300.00")
    assert run("-o", path, "--append", "--", "true").returncode == 0
    rows = helpers.csv_rows(path)
    assert len(rows) == 4
    assert path.read_text().count("timestamp") == 1


def test_csv_of_which_only_a_torn_header_is_left_gets_a_new_one(run, tmp_path, helpers):
    path = tmp_path / "run.csv"
    path.write_text("timestamp,system_pro")
    assert run("-o", path, "--append", "--", "true").returncode == 0
    assert len(helpers.csv_rows(path)) == 1


def test_several_outputs_hold_the_same_samples(run, tmp_path, helpers):
    result = run("-i", 0.1, "-o", "a.jsonl", "-o", "b.csv", "-o", "c.jsonl", "-q", "--", "sleep", "0.35")
    assert result.returncode == 0 and result.out == "" and result.err == ""
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()
    samples, rows = helpers.json_lines(tmp_path / "a.jsonl"), helpers.csv_rows(tmp_path / "b.csv")
    assert [f"{sample['timestamp']:.3f}" for sample in samples] == [row["timestamp"] for row in rows]
    assert len(samples) >= 2


def test_the_same_output_twice_is_refused(run, job):
    assert_refused(run("-o", "run.jsonl", "-o", "run.jsonl", "--", *job.command), "run.jsonl")
    assert not job.ran()


def test_place_holders_are_filled_in(spawn, tmp_path):
    process = spawn("-o", "%h-%p-%t-%r-%%.jsonl", "--", "true")
    assert process.wait() == 0
    (found,) = tmp_path.iterdir()
    name = re.fullmatch(r"(.+)-(\d+)-(\d{8}T\d{6}Z)-0-%\.jsonl", found.name)
    assert name and name[1] == socket.gethostname() and int(name[2]) == process.pid
    started = time.mktime(time.strptime(name[3] + " UTC", "%Y%m%dT%H%M%SZ %Z")) - time.timezone
    assert abs(started - time.time()) < 60


def test_the_job_inherits_no_descriptor_of_an_output(run, tmp_path):
    show = "import os; print(sorted(os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')[:-1]))"
    os.mkfifo(tmp_path / "fifo")
    bare = subprocess.run([sys.executable, "-c", show], capture_output=True, stdin=subprocess.DEVNULL, check=True)
    result = run("-o", "run.jsonl", "-o", "fifo", "-o", "/dev/stderr", "--", sys.executable, "-c", show)
    assert result.returncode == 0
    assert str(tmp_path) not in result.out
    assert result.out.count(",") == bare.stdout.decode().count(",")


@pytest.mark.parametrize("device", ["/dev/full", "/dev/null"])
def test_a_device_is_never_renamed_and_the_jobs_status_is_passed_on(run, device):
    result = run("-i", 0.05, "-o", device, "--", "sh", "-c", "sleep 0.3; exit 7")
    assert result.returncode == 7
    assert result.wall_secs < 5
    assert stat.S_ISCHR(os.stat(device).st_mode) and not os.path.exists(device + ".1")
    warnings = [line for line in result.err.splitlines() if "No space left" in line]
    assert len(warnings) == (device == "/dev/full")


def test_default_samples_on_a_full_device_do_not_reach_the_job(run):
    with open("/dev/full", "wb") as full:
        result = run("-i", 0.05, "--", "sh", "-c", "sleep 0.2; exit 7", stderr=full)
    assert result.returncode == 7 and result.out == ""


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(path):
    with path.open("ab", buffering=0) as file:
        with pytest.raises(OSError) as full:
            while True:
                file.write(bytes(4096))
        assert full.value.errno == errno.ENOSPC


@AS_ROOT
def test_a_disk_that_fills_and_is_freed_again_loses_no_sample(spawn, small_disk, helpers):
    path, filler = small_disk / "run.jsonl", small_disk / "filler"
    process = spawn("-i", 0.02, "-o", path, "--", "sh", "-c", "sleep 1.5; exit 7", stderr=subprocess.PIPE)
    helpers.wait_until(lambda: path.exists() and path.stat().st_size, what="the first sample")
    fill(filler)
    full_at = path.stat().st_size
    time.sleep(0.5)
    # While the disk is full, every line in the file is whole.
    assert helpers.json_lines(path)
    assert path.stat().st_size <= full_at + 4096
    filler.unlink()
    # 64 KiB hold few samples, so move them away as they come.
    kept = []
    while process.poll() is None:
        time.sleep(0.01)
        size = path.stat().st_size
        if size > 40000:
            kept += helpers.json_lines(path.read_bytes()[:size])
            os.truncate(path, 0)
    kept += helpers.json_lines(path)
    assert process.returncode == 7
    numbers = [sample["sample"] for sample in kept]
    assert numbers == sorted(set(numbers))
    dropped = kept[-1]["tracker"]["dropped_samples"]
    # Our own truncation may also cut off data that arrived between read and truncate.
    assert len(numbers) + dropped >= numbers[-1] + 1 - 3
    warnings = [line for line in process.stderr.read().decode().splitlines() if "run.jsonl" in line]
    assert len(warnings) == 2 and "No space left on device" in warnings[0] and "was emptied by another program" in warnings[1]


@AS_ROOT
@pytest.mark.parametrize("secs", [0.05, 1.2])
def test_one_line_tells_the_loss_of_a_full_disk(run, small_disk, secs):
    fill(small_disk / "filler")
    done = run("-q", "--no-summary", "-o", small_disk / "run.jsonl", "--", "sleep", secs)
    assert done.err == (f"resource-tracker: cannot write to {small_disk}/run.jsonl: No space left on device; samples are kept, and are lost if it "
                        "lasts until the end\n")


@AS_ROOT
def test_dropped_samples_are_counted_in_the_record(spawn, small_disk, helpers):
    path, filler = small_disk / "run.jsonl", small_disk / "filler"
    fill(filler)
    process = spawn("-i", 0.002, "-o", path, "--", "sh", "-c", "sleep 2; exit 7", stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    # The file system gives the space back in parts. While the recorder is stopped, it writes into none of these.
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    filler.unlink()
    process.send_signal(signal.SIGCONT)
    assert process.wait(10) == 7
    # More than 256 KiB of samples had to wait, and 256 KiB did; the disk holds a quarter of them.
    samples = helpers.json_lines(path)
    numbers = [sample["sample"] for sample in samples]
    end = numbers.pop()
    assert numbers[0] > 0 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert samples[0]["tracker"]["dropped_samples"] > 0
    # The end has the place of the last ones.
    assert end > numbers[-1] + 1 and samples[-1]["run_end"]["exit_code"] == 7


@AS_ROOT
def test_the_end_of_a_run_is_on_a_disk_that_stays_full(run, small_disk, helpers, tmp_path):
    path = small_disk / "run.jsonl"
    job = f"sleep 0.3; dd if=/dev/zero of={small_disk}/filler bs=1k 2>/dev/null; sleep 0.5; exit 7"
    done = run("-q", "-i", "0.05", "--summary", "-o", path, "--", "sh", "-c", job)
    samples = helpers.json_lines(path)
    assert done.returncode == 7 and samples[-1]["run_end"]["exit_code"] == 7 and samples[0]["run_start"]
    assert samples[-1]["sample"] > samples[-2]["sample"] + 1
    assert "Failed: exit status 7" in done.err and done.err.count("cannot write") == 1
    # Lines of a run before in the same file stay.
    (small_disk / "filler").unlink()
    path.write_text("")
    assert run("-q", "-o", path, "--", "true").returncode == 0
    before = path.read_bytes()
    fill(small_disk / "filler")
    assert run("-q", "-o", path, "--append", "--", "sh", "-c", "exit 7").returncode == 7
    assert path.read_bytes().startswith(before)


def test_a_size_limit_does_not_reach_the_job(run, tmp_path, helpers):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    result = run("-i", 0.02, "-o", "run.jsonl", "--", "sh", "-c", "sleep 0.6; exit 7", preexec_fn=limit)
    assert result.returncode == 7
    assert (tmp_path / "run.jsonl").stat().st_size <= 20000
    assert helpers.json_lines(tmp_path / "run.jsonl")
    assert len([line for line in result.err.splitlines() if "File too large" in line]) == 1


def test_eight_descriptors_are_enough(run, tmp_path, helpers):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))

    result = run("-o", "run.jsonl", "--", "sh", "-c", "exit 7", preexec_fn=limit, close_fds=True)
    assert result.returncode == 7
    assert "a limit of 8 open files (ulimit -n) leaves most figures unknown\n" in result.err
    # Nothing is known about /proc/stat, which may be the kernel's own.
    assert "no-proc-stat" not in helpers.json_lines(tmp_path / "run.jsonl")[0]["run_start"]["figures_from"]


@pytest.mark.parametrize("files, told", ((39, True), (40, False)))
def test_few_open_files_are_told(run, files, told):
    done = run("--", "true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)), close_fds=True)
    assert done.returncode == 0 and (f"a limit of {files} open files (ulimit -n)" in done.err) == told


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_streams(binary, tmp_path, helpers, closed):
    job = 'for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] || set -- $* $fd; done; echo "$*" >closed; ' \
          'ls -l /proc/$$/fd >descriptors; exit 7'
    result = subprocess.run(["sh", "-c", f'exec "$0" -o run.jsonl -- sh -c "$1" {closed}', binary, job], cwd=tmp_path,
                            env=helpers.clean_environment(), stdin=subprocess.DEVNULL, capture_output=True)
    assert result.returncode == 7
    assert helpers.json_lines(tmp_path / "run.jsonl")
    # A closed descriptor is closed for the job as well, and no output has taken its place.
    assert (tmp_path / "closed").read_text().split() == re.findall(r"(\d)[<>]&-", closed)
    assert "run.jsonl" not in (tmp_path / "descriptors").read_text()


@pytest.mark.parametrize("line", ["-o - -- touch ran", "-o run.jsonl -o /dev/stdout -- touch ran", "-i 0.1 --duration 5",
                                  "-i 0.1 --pid $$"])
def test_samples_for_a_closed_stdout_are_refused(binary, tmp_path, helpers, line):
    """Samples would be lost in silence. A user who only runs a job there loses nothing."""
    def run(arguments):
        return subprocess.run(["sh", "-c", f'"$0" {arguments} >&-', binary], cwd=tmp_path, text=True,
                              env=helpers.clean_environment(), stdin=subprocess.DEVNULL, capture_output=True)

    result = run(line)
    assert result.returncode == 125 and len(result.stderr.splitlines()) == 1
    assert "is not open for writing" in result.stderr and "out" in result.stderr
    assert not (tmp_path / "ran").exists()
    assert run("-q -- touch ran").returncode == 0 and (tmp_path / "ran").exists()


def test_a_shared_file_is_written_to_side_by_side(run, tmp_path, helpers):
    # ">": job and tracker share one file position, so neither overwrites the other.
    with open(tmp_path / "log", "wb") as log:
        result = run("-i", 0.05, "-o", "-", "--", "sh", "-c",
                     "i=0; until [ $(grep -c timestamp_secs log) -ge 4 ]; do i=$((i + 1)); echo job $i; sleep 0.1; done", stdout=log)
    assert result.returncode == 0
    lines = (tmp_path / "log").read_text().splitlines()
    said = [line for line in lines if line.startswith("job")]
    assert said == [f"job {i + 1}" for i in range(len(said))] and said
    assert len(helpers.json_lines("".join(line + "\n" for line in lines if not line.startswith("job")))) >= 4


def test_appending_to_a_log_by_redirection_renames_nothing(run, tmp_path):
    (tmp_path / "log").write_text("earlier\n")
    with open(tmp_path / "log", "ab") as log:
        assert run("-o", "/dev/stdout", "--", "echo", "job", stdout=log).returncode == 0
    text = (tmp_path / "log").read_text()
    assert text.startswith("earlier\njob\n{")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.alone
def test_one_sample_is_one_write(binary, tmp_path, helpers, no_leak_check):
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-s", "8", "-e", "trace=write,writev,pwrite64", "-o", trace,
               binary, "-i", "0.1", "-o", "run.jsonl", "--", "sleep", "0.55"]
    if not shutil.which("strace"):
        pytest.skip("strace is missing")
    assert subprocess.run(command, cwd=tmp_path, env=helpers.clean_environment()).returncode == 0
    writes = [line for line in trace.read_text().splitlines() if "run.jsonl>" in line]
    assert len(writes) == len(helpers.json_lines(tmp_path / "run.jsonl")) >= 3


def test_a_lock_of_another_program_counts(run, tmp_path, job):
    with open(tmp_path / "run.jsonl", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert_refused(run("-o", "run.jsonl", "--", *job.command), "run.jsonl")
    assert not job.ran()
    assert (tmp_path / "run.jsonl").stat().st_size == 0
