"""Memory of a tree: peaks between samples and shared memory; a missing value is null."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import exact
import memory_truth
from conftest import wait_until

needs_root = pytest.mark.skipif(not exact.is_root(), reason="only root can be somebody else")


@pytest.fixture(scope="module")
def workload(binary, tmp_path_factory):
    return exact.build_workload(binary, tmp_path_factory.mktemp("workload"))


def within(told, truth, share):
    assert abs(told - truth) <= truth * share, (told, truth)


def middle(samples):
    """Returns a sample from the time when all processes had their memory."""
    return max(samples, key=lambda sample: (sample["cpu"]["process_child_count"], sample["cpu"]["process_rss_mib"] or 0))["cpu"]


def test_pages_of_files_are_a_part_that_others_may_share(record, tmp_path):
    """30 MiB of a file that a program maps and reads, beside 50 MiB of its own."""
    # To the kernel, pages of a tmpfs are shared memory.
    with tempfile.NamedTemporaryFile(dir="/var/tmp" if exact.is_in_memory(tmp_path) else tmp_path) as mapped:
        if exact.is_in_memory(mapped.name):
            pytest.skip("no folder for temporary files is on a disk")
        mapped.write(bytes(30 << 20))
        mapped.flush()
        code = (f"import mmap, time; own = bytearray(b'x') * (50 << 20); file = open({mapped.name!r}, 'rb')\n"
                "area = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ); sum(area[::4096]); time.sleep(1)")
        _, samples = record("-i", 0.2, "--", sys.executable, "-S", "-c", code)
    told = [(one["cpu"]["process_file_mib"], one["cpu"]["process_memory_mib"]) for one in samples if one["cpu"]["process_file_mib"]]
    # While the program ends, its own memory goes first.
    assert max(told)[0] <= 50 and any(mib >= 30 and memory - mib >= 50 for mib, memory in told), told


def test_peak_between_two_samples(record, workload):
    _, samples = record("-i", 10, "--", workload, "truth", "spike", 300, 100)
    end = samples[-1]["run_end"]
    within(end["memory_peak_mib"], 301, 0.02)
    assert end["memory_peak_source"] == "largest_process"
    assert end["largest_process_peak_mib"] == end["memory_peak_mib"]


def test_peak_of_a_process_beside_memory_in_no_resident_set(record):
    """No figure of the kernel has the sum: 100 MiB in a memfd, and a short-lived object of 90 MiB."""
    code = "import os, time; f = os.memfd_create('x'); [os.write(f, b'1' * (1 << 20)) for _ in range(100)]; time.sleep(0.5); b'1' * (90 << 20); time.sleep(0.5)"
    _, samples = record("-i", 0.2, "--", sys.executable, "-c", code)
    end = samples[-1]["run_end"]
    assert end["largest_process_peak_mib"] < 130
    assert 190 <= end["memory_peak_between_mib"] <= 230, end


def allocated_mib():
    """All pages that the machine has allocated so far."""
    return sum(int(line.split()[1]) for line in open("/proc/vmstat") if line.startswith("pgalloc_")) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


HANDED_OVER = """
import mmap, os, sys, time
held = os.memfd_create("x")
os.ftruncate(held, 200 << 20)
area = mmap.mmap(held, 200 << 20)
for at in range(200):
    area[at << 20:at + 1 << 20] = bytes([1]) * (1 << 20)
area.close()
if len(sys.argv) > 1:
    del area
    bytearray(b"x") * (int(sys.argv[1]) << 20)
time.sleep(0.6)
"""


def test_memory_that_a_descriptor_keeps_is_not_beside_its_mapping(record):
    """200 MiB of a memfd, filled through a mapping that has gone: told as 405. The pages that were allocated tell it from as much beside it."""
    for _ in range(8):
        before = allocated_mib()
        _, samples = record("-i", 0.5, "--", sys.executable, "-S", "-c", HANDED_OVER)
        allocated, told = allocated_mib() - before, samples[-1]["run_end"]["memory_peak_between_mib"]
        # Pages of files in the page cache were not allocated.
        assert 200 <= told <= allocated + 20, (told, allocated)
        if allocated < 330:
            return
    pytest.skip("other programs allocate too much")


def test_memory_beside_a_memfd_that_was_unmapped_counts(record):
    """The same, and 150 MiB for a moment, which raise no mark of the kernel."""
    _, samples = record("-i", 0.5, "--", sys.executable, "-S", "-c", HANDED_OVER, 150)
    assert 350 <= samples[-1]["run_end"]["memory_peak_between_mib"] < 430, samples[-1]["run_end"]


@pytest.mark.alone  # memory that other programs allocate raises the bound
@pytest.mark.parametrize("words, most", [
    ("memfd 60 view 2 sleep 1200", 66),
    # Told as 180 and more. 75 on a busy machine.
    ("memfd 60 view 2 fork 2 { view 3 sleep 1200 }", 100),
])
def test_peak_of_a_process_that_maps_a_memfd_three_times_counts_it_once(record, tmp_path, binary, words, most):
    job = memory_truth.build_job(binary, tmp_path)
    _, samples = record("-i", 0.3, "--", job, *words.split())
    end = samples[-1]["run_end"]
    assert end["largest_process_peak_mib"] > 180  # the kernel counts each mapping
    assert 60 <= end["memory_peak_mib"] <= end["memory_peak_between_mib"] < most, end


@pytest.mark.parametrize("words, mib", [("many 20000", 78), ("many 14000 fork 1 { read sleep 2500 }", 55), ("private 2 open-many 6000", 377),
                                        ("private 2 open-many 6000 fork 2 { sleep 2500 }", 377)])
@pytest.mark.parametrize("user", ["root", pytest.param("ordinary", marks=pytest.mark.night)] if exact.is_root() and exact.installed("setpriv") else ["own"])
def test_more_shared_objects_than_the_table_holds_are_estimated(binary, tmp_path_factory, words, mib, user):
    """8,192 objects, and 4,096 descriptors of a process, are read one by one. The rest is in the figure, or at least in its error."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        programs = [shutil.copy(one, folder) for one in (binary, memory_truth.build_job(binary, tmp_path_factory.mktemp("job")))]
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if user == "ordinary" else []
        subprocess.run([*as_user, programs[0], "-i", "0.5", "-q", "--no-summary", "-o", "run.jsonl", "--", programs[1], *words.split(), "sleep", "2500"],
                       check=True, cwd=folder, timeout=60)
        samples = list(map(json.loads, pathlib.Path(folder, "run.jsonl").open()))
    told = [(one["cpu"]["process_memory_mib"], one["cpu"]["process_memory_error_mib"]) for one in samples]
    # The last one may see the end of the job.
    full = [one for one in told if one[0]][-4:-1]
    assert len(full) == 3 and all(error and one <= 1.05 * mib + 4 and one + error >= 0.95 * mib - 1 for one, error in full), told


def test_peak_between_is_the_peak_of_one_process_alone(record, workload):
    _, samples = record("-i", 0.2, "--", workload, "truth", "spike", 300, 700)
    end = samples[-1]["run_end"]
    within(end["memory_peak_between_mib"], end["memory_peak_mib"], 0.02)


def test_new_forks_are_not_beside_the_pages_of_their_parent(record, tmp_path, binary):
    """A sample sees the parent while it grows, the next one its forks: 100 MiB, told as 180 or more between the two."""
    job = memory_truth.build_job(binary, tmp_path)
    _, samples = record("-i", 0.4, "--", job, *"private 80 sleep 500 private 20 fork 4 { read sleep 900 } sleep 900".split())
    end = samples[-1]["run_end"]
    within(end["memory_peak_mib"], 101, 0.05)
    within(end["memory_peak_between_mib"], end["memory_peak_mib"], 0.1)


@pytest.mark.alone
@pytest.mark.parametrize("words, mib", [
    ("private 190 fork 3 { sleep 1500 private 4 quit } sleep 50 quit", 202),
    ("private 190 fork 2 { sleep 2000 } sleep 700 grow 80 500 quit", 270),
])
def test_a_parent_that_has_exited_is_not_beside_the_pages_that_its_forks_inherited(record, tmp_path, binary, words, mib):
    """No sample sees the first parent, nor the end of the second one's growth. Told as 384 and 460."""
    job = memory_truth.build_job(binary, tmp_path)
    _, samples = record("-i", 0.5, "--", "sh", "-c", f"{job} {words}; sleep 2.2")
    end = samples[-1]["run_end"]
    assert 0.95 * mib - 8 <= end["memory_peak_between_mib"] <= 1.1 * mib, end


DAEMON = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    held = bytearray(b"x") * (94 << 20)
    time.sleep(1.3)
    more = bytearray(b"y") * (6 << 20)  # after its last sample
    os._exit(0)
os.wait()
for _ in range(3):
    time.sleep(0.3)
    subprocess.run([sys.executable, "-c", "pass"])
time.sleep(0.8)
"""


def test_a_daemon_is_not_beside_itself(record):
    """It grew before it ended, and short-lived processes had been beside it: 110 MiB and some 10 of others, told as 219."""
    _, samples = record("-i", 0.5, "--", sys.executable, "-c", DAEMON)
    end = samples[-1]["run_end"]
    assert end["largest_process_peak_mib"] >= 100
    assert end["memory_peak_between_mib"] <= end["largest_process_peak_mib"] + 40, end


@pytest.mark.parametrize("words", [
    "private 100 sharers 3 exec { sleep 2000 }",
    "fork 1 { private 100 sharers 3 sleep 600 exec { sleep 2000 } } wait",
    "fork 1 { private 100 sharers 3 sleep 600 quit } sleep 2000",
])
def test_an_address_space_that_outlives_its_first_process_counts_once(record, tmp_path, binary, words):
    """Three processes have it by CLONE_VM. Told as 300 MiB."""
    _, samples = record("-i", 0.3, "--", memory_truth.build_job(binary, tmp_path), *words.split())
    told = [one["cpu"]["process_memory_mib"] for one in samples]
    assert sum(90 <= (mib or 0) <= 110 for mib in told) >= 3 and max(mib or 0 for mib in told) <= 110, told


@pytest.mark.parametrize("pss", ["always", "auto"])
def test_memory_that_many_share_counts_once(record, workload, pss):
    size_mib = 240
    _, samples = record("-i", 0.2, "--pss", pss, "--", workload, "truth", "shared", size_mib, 8, 5000)
    cpu = middle(samples)
    assert cpu["process_child_count"] == 8
    assert cpu["process_rss_mib"] > 8 * size_mib
    # Each process adds a little. If readings were too costly at that moment, the value is an estimate from the last
    # ones.
    within(cpu["process_memory_mib"], size_mib + 3, 0.03 if cpu["process_memory_source"] == "pss" else 0.15)
    if pss == "always":
        within(cpu["process_pss_mib"], size_mib + 3, 0.03)
        assert cpu["process_memory_source"] == "pss"
        within(cpu["process_shared_mib"], 9 * size_mib, 0.1)
    # Processes are read in sequence, so a sum during the beginning of sharing is too high.
    assert size_mib < samples[-1]["run_end"]["memory_peak_mib"] < 1.3 * size_mib


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("threads", [0, 20])
def test_memory_that_the_kernel_is_freeing_is_unknown(record, binary, tmp_path, threads):
    """A process that ends has no address space from then on, while the kernel frees its pages: 0.1 s per GiB."""
    size_mib = 600
    job = memory_truth.build_job(binary, tmp_path)
    _, samples = record("-i", 0.003, "--", job, *f"private {size_mib} threads {threads} sleep 300 quit".split())
    told = [sample["cpu"]["process_memory_mib"] for sample in samples]
    full = next(i for i, mib in enumerate(told) if mib and mib >= 0.95 * size_mib)
    # Its size until the end, then unknown: neither 0 nor a figure that is no longer true.
    wrong = [(i, mib) for i, mib in enumerate(told) if i > full and mib is not None and not 0.9 * size_mib <= mib <= 1.1 * size_mib + 5]
    assert not wrong, wrong
    assert told[-2:] == [None, None], "no sample was taken while the kernel freed the memory"
    freeing = [sample["cpu"] for sample in samples[full:-1] if sample["cpu"]["process_memory_mib"] is None]
    assert all(cpu["process_rss_mib"] is None and cpu["process_main_rss_mib"] is None and cpu["process_pss_mib"] is None for cpu in freeing)


def test_private_memory_of_the_root_process_alone(record):
    job = ("import os, time; mine = b'x' * (60 << 20)\n"
           "if os.fork() == 0:\n theirs = b'y' * (120 << 20); time.sleep(1); os._exit(0)\n"
           "time.sleep(0.5); os.wait()")
    _, samples = record("-i", 0.1, "--pss", "always", "--", "python3", "-c", job)
    cpu = max((sample["cpu"] for sample in samples), key=lambda cpu: cpu["process_private_mib"] or 0)
    # Pages that the child inherited are no longer private to the root.
    assert cpu["process_main_private_mib"] < 40 and cpu["process_private_mib"] > 120
    alone = next(sample["cpu"] for sample in samples if sample["cpu"]["process_child_count"] == 0)
    assert alone["process_main_private_mib"] == alone["process_private_mib"]
    assert samples[-1]["cpu"]["process_main_private_mib"] is None


def test_child_of_vfork_has_its_parents_memory(record, workload):
    _, samples = record("-i", 0.05, "--", workload, "truth", "vfork", 200, 500)
    both = [sample["cpu"] for sample in samples if sample["cpu"]["process_child_count"] == 1]
    assert both
    for cpu in both:
        assert 200 < cpu["process_rss_mib"] < 220, cpu
        # If a reading was too costly, the value is an estimate; the test only requires that it is not twice as much.
        assert (200 if cpu["process_memory_source"] == "pss" else 160) < cpu["process_memory_mib"] < 260, cpu


def test_zombies_have_no_memory_and_the_last_sample_none(record, workload):
    _, samples = record("-i", 0.05, "--", workload, "truth", "zombies", 5, 2000)
    # Zombies are not running processes; the root's own memory is still recorded.
    assert any(sample["cpu"]["process_child_count"] == 0 and sample["cpu"]["process_rss_mib"]
               for sample in samples[2:-1])
    last = samples[-1]["cpu"]
    for key in ("process_rss_mib", "process_memory_mib", "process_pss_mib", "process_main_rss_mib"):
        assert last[key] is None, key
    assert samples[-1]["run_end"]["memory_peak_mib"] >= max(sample["cpu"]["process_memory_mib"] or 0 for sample in samples) > 0


def run_as_nobody(command, **popen):
    return subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command],
                            stdin=subprocess.DEVNULL, **popen)


def copy_for_everybody(binary, tmp_path):
    """Makes a folder that uid 65534 may enter, because test folders belong to root."""
    import shutil
    import tempfile
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rt-nobody-"))
    folder.chmod(0o777)
    return folder, shutil.copy(binary, folder / "resource-tracker")


@needs_root
@pytest.mark.skipif(not exact.installed("setpriv"), reason="setpriv is missing")
def test_process_of_another_user_loses_only_the_forbidden_fields(binary, tmp_path, helpers):
    """Figures that every user may read (stat, statm, the CPU clock) are there; I/O and shares of memory are
    null, not 0."""
    folder, program = copy_for_everybody(binary, tmp_path)
    burner = subprocess.Popen(["sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL)
    try:
        begun = time.monotonic()
        tracker = run_as_nobody([program, "-i", "0.1", "--duration", "1", "--pid", str(burner.pid), "-o",
                                 "record.jsonl"], cwd=folder, stderr=subprocess.DEVNULL)
        assert tracker.wait() == 0
        assert time.monotonic() - begun < 20
        samples = helpers.json_lines(folder / "record.jsonl")
    finally:
        burner.kill()
        burner.wait()
        exact.shutil.rmtree(folder)
    cpu = samples[-1]["cpu"]
    assert exact.told_secs(samples) > 0
    assert cpu["process_unreadable_count"] == 1
    assert cpu["process_rss_mib"] > 0
    assert cpu["process_pss_mib"] is None
    for sample in samples:
        assert [sample["cpu"][f"process_{name}"] for name in
                ("disk_read_bytes", "disk_write_bytes", "read_chars", "written_chars")] == [None] * 4, sample["cpu"]


def test_bytes_that_were_read_are_the_kernels_to_the_byte(run, helpers, tmp_path):
    """A process that prints its own /proc/PID/io, and then reads nothing; our reading is not in it."""
    result = run("-q", "-o", "record.jsonl", "--", "cat", "/proc/self/io")
    told = dict(line.split(": ") for line in result.out.splitlines())
    cpu = helpers.json_lines(tmp_path / "record.jsonl")[-1]["cpu"]
    assert cpu["process_read_chars"] == int(told["rchar"]) + len(result.out)
    assert cpu["process_written_chars"] == int(told["wchar"]) + len(result.out)


def test_io_of_the_tree(record, tmp_path):
    """Bytes by calls and bytes in storage, of processes that come and go, and of one that stays."""
    mib = 1 << 20
    script = ("i=0; while [ $i -lt 8 ]; do dd if=/dev/zero of=file bs=1M count=4 conv=fsync 2>/dev/null; i=$((i+1)); done;"
              "dd if=file of=/dev/null bs=1M 2>/dev/null; sleep 0.2; (dd if=/dev/zero of=other bs=1M count=16 conv=fsync 2>/dev/null)")
    _, samples = record("-i", 0.05, "--", "sh", "-c", script, cwd=tmp_path)

    def total(key):
        values = [sample["cpu"][key] for sample in samples]
        assert all(value >= 0 for value in values), (key, values)
        return sum(values)

    written = (8 * 4 + 16) * mib
    # The shell and dd also read their libraries; only dd writes.
    within(total("process_written_chars"), written + 4 * mib, 0.01)  # writes to /dev/null count as well
    assert written_to_storage_counts(tmp_path) is False or \
        abs(total("process_disk_write_bytes") - written) <= written * 0.01, total("process_disk_write_bytes")
    assert 52 * mib * 0.99 <= total("process_read_chars") <= 52 * mib * 1.01 + 25 * 60_000


def written_to_storage_counts(folder):
    """Tells whether the folder is on storage that the kernel counts (not on tmpfs)."""
    done = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True)
    return done.stdout.strip() in ("ext2/ext3", "xfs", "btrfs")


LEADERLESS = """
import ctypes, mmap, platform, sys, threading, time

def hold():
    pages = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 64 << 20, 4096):
        pages[at] = 1
    time.sleep(1)

threading.Thread(target=hold).start()
# Only the main thread ends, as with pthread_exit(3).
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


@pytest.mark.parametrize("pss", ["auto", "always"])
def test_a_leader_that_has_ended_has_the_memory_of_its_threads(record, pss):
    _, samples = record("-i", 0.1, "--pss", pss, "--", sys.executable, "-c", LEADERLESS)
    held = [sample["cpu"] for sample in samples if (sample["cpu"]["process_rss_mib"] or 0) > 64]
    assert len(held) >= 3
    assert all(cpu["process_pss_mib"] > 64 and cpu["process_memory_mib"] > 64 for cpu in held[2:]), held
    assert samples[-1]["cpu"]["process_pss_mib"] is None


HOLDERS = """
import mmap, os, signal, sys

fd, children = os.memfd_create("held"), []
for _ in range(100):
    os.write(fd, b"x" * (1 << 20))
if sys.argv[1] == "mapped":
    pages = mmap.mmap(fd, 100 << 20)
    assert sum(pages[::4096])
for _ in range(2):
    child = os.fork()
    if child == 0:
        signal.pause()
    children.append(child)
os.close(fd)
print(*children, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("ends", [0, 1])
@pytest.mark.parametrize("mapped", ["mapped", "open"])
def test_shared_memory_stays_when_one_of_its_holders_ends(spawn, tmp_path, helpers, mapped, ends):
    """The size of a memfd comes from the descriptor of one process. Another one has it open as well."""
    def samples(count):
        wait_until(lambda: path.exists() and path.read_text().count("\n") >= count, what=f"{count} samples")
        return path.read_text().count("\n")

    path = tmp_path / "run.jsonl"
    with subprocess.Popen([sys.executable, "-c", HOLDERS, mapped], stdout=subprocess.PIPE, text=True) as job:
        children = [int(word) for word in job.stdout.readline().split()]
        try:
            tracker = spawn("--pid", job.pid, "-i", "0.05", "-o", path, "--no-summary")
            before = samples(10)
            os.kill(children[ends], signal.SIGKILL)
            # Beside other load, it first waits for a CPU.
            wait_until(lambda: ") Z " in pathlib.Path(f"/proc/{children[ends]}/stat").read_text(), what="a zombie")
            samples(max(samples(0), before) + 10)
            tracker.terminate()
            tracker.wait(10)
        finally:
            for pid in (*children, job.pid):
                os.kill(pid, signal.SIGKILL)  # the job does not wait for its children, so their pids stay theirs
    told = [(sample["cpu"]["process_memory_mib"], sample["cpu"]["process_child_count"]) for sample in helpers.json_lines(path)]
    assert told[0][1] == 2 and told[-1][1] == 1 and min(mib for mib, _ in told[:-1]) > 100, told
