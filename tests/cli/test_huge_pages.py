"""Huge pages (hugetlb): the machine's and the job's."""
import json
import sys

import pytest

from memory_truth import hugetlb_pages

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
