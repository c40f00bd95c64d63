"""Huge pages (hugetlb): the machine's and the job's."""
import json
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

from memory_truth import hugetlb_pages, when_of

MIB = 1 << 20
# One that other users may run.
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
JOB = """
import mmap, time
size = {pages} * {size}
area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)
for at in range(0, size, {size}):
    area[at] = 1
time.sleep(1.2)
"""


def test_huge_pages_of_the_job_and_of_the_machine(run, tmp_path):
    free, size = hugetlb_pages()
    if free < 4:
        pytest.skip("no huge pages are set aside (vm.nr_hugepages)")
    path = tmp_path / "run.jsonl"
    done = run("-i", 0.3, "-o", path, "-q", "--no-summary", "--", sys.executable, "-c", JOB.format(pages=4, size=size))
    assert done.returncode == 0, done.err
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    mib = 4 * size / (1 << 20)
    assert max(sample["cpu"]["process_hugetlb_mib"] or 0 for sample in samples) == mib
    assert max(sample["memory"]["hugetlb_used_mib"] or 0 for sample in samples) >= mib
    assert all(sample["memory"]["hugetlb_total_mib"] >= mib for sample in samples)


def test_huge_pages_of_a_job_that_uses_small_ones_are_0(run, tmp_path):
    path = tmp_path / "run.jsonl"
    done = run("-i", 0.2, "-o", path, "-q", "--no-summary", "--", "sleep", 0.5)
    assert done.returncode == 0, done.err
    assert json.loads(path.read_text().splitlines()[0])["cpu"]["process_hugetlb_mib"] == 0


# Prints when it began and ended to write each page.
GROWS = """
import mmap, sys, time
kind, size, pages = getattr(mmap, sys.argv[1]), int(sys.argv[2]), 12
area = mmap.mmap(-1, size * pages, flags=kind | mmap.MAP_ANONYMOUS | 0x40000)
time.sleep(0.6)
for i in range(pages):
    begun = time.time()
    area[i * size] = 1
    print(begun, time.time())
    time.sleep(0.2)
"""


@pytest.mark.parametrize("user", [None, 65534])
@pytest.mark.parametrize("kind", ["MAP_PRIVATE", "MAP_SHARED"])
def test_huge_pages_that_come_later_count_in_the_next_sample(run, helpers, huge_pages, program_for_everybody, kind, user):
    """The resident set of a process has none of them, so that nothing in it moves."""
    size, as_user = hugetlb_pages()[1], {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="rt-huge-") as folder:
        os.chmod(folder, 0o777)
        path = pathlib.Path(folder, "run.jsonl")
        done = run("-i", 0.5, "-o", path, "--no-summary", "--", PYTHON, "-S", "-c", GROWS, kind, size,
                   program=program_for_everybody, **as_user)
        assert done.returncode == 0, done.err
        samples = helpers.json_lines(path)[1:-1]
    writes = [tuple(map(float, line.split())) for line in done.out.splitlines()]
    assert len(samples) >= 3
    for sample in samples:
        begun, ended = when_of(sample)
        least, most = sum(until <= begun for _, until in writes), sum(since <= ended for since, _ in writes)
        # Readings have little time, and take longer on a busy machine. The error has the pages that wait for the next one.
        missing = (sample["cpu"]["process_memory_error_mib"] or 0) * (sample["cpu"]["process_memory_source"] == "sampled")
        assert least - missing * MIB / size <= sample["cpu"]["process_hugetlb_mib"] * MIB / size <= most, (writes, sample)
        assert sample["cpu"]["process_memory_mib"] > sample["cpu"]["process_hugetlb_mib"]
