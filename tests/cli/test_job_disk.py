"""The devices of the job, by its control group."""
import json
import os
import pathlib
import re
import subprocess

import pytest

import recordings
from conftest import ROOTS

BLKIO = pathlib.Path("/sys/fs/cgroup/blkio")
JOB = """
import mmap, os, time
size = 8 << 20
data = mmap.mmap(-1, size)
fd = os.open("data", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
os.write(fd, data)
time.sleep(0.3)
os.preadv(fd, [data], 0)
time.sleep(0.3)
"""


@pytest.fixture
def group(tmp_path):
    """A group of version 1 for this test, in which the kernel counts on the device of the test's folder."""
    if os.geteuid() != 0 or not os.access(BLKIO / "cgroup.procs", os.W_OK):
        pytest.skip("groups that count I/O are made by root in a hierarchy of version 1")
    made = BLKIO / f"rt-test-{os.getpid()}"
    made.mkdir()
    device = os.stat(tmp_path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        for limit in ("read", "write"):
            (made / f"blkio.throttle.{limit}_bps_device").write_text(f"{number} 1000000000000")
    except OSError:
        made.rmdir()
        pytest.skip("the folder is on no device that the kernel can limit")
    yield made
    made.rmdir()


def counted(group, name):
    text = (group / f"blkio.throttle.{name}_recursive").read_text()
    return {key: sum(int(value) for value in re.findall(rf"^\d+:\d+ {key} (\d+)$", text, re.MULTILINE)) for key in ("Read", "Write")}


def test_bytes_by_device_are_those_of_the_group(binary, group, tmp_path):
    done = subprocess.run([binary, "-i", "0.2", "-q", "--no-summary", "-o", "run.jsonl", "--", "python3", "-c", JOB], cwd=tmp_path,
                          preexec_fn=lambda: (group / "cgroup.procs").write_text("0"), check=False)
    assert done.returncode == 0
    samples = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    (device,) = samples[-1]["job_disk"]
    # The recorder's own file goes through the page cache, whose writes version 1 counts elsewhere.
    # It is in the group, too, and may read a page of its program after the last sample.
    assert 8 << 20 <= device["bytes_read"] <= counted(group, "io_service_bytes")["Read"]
    assert device["bytes_written"] == counted(group, "io_service_bytes")["Write"] == 8 << 20
    assert device["writes"] == counted(group, "io_serviced")["Write"]
    assert device["device"] in pathlib.Path("/proc/diskstats").read_text()


def test_devices_of_version_2_have_their_names(run, tmp_path):
    path = tmp_path / "run.jsonl"
    done = run("--root", ROOTS / "hand-made-cgroup2-6.6" / "t0", "--pid", 100, "-i", 0.1, "--duration", 0.3, "-o", path, "-q", "--no-summary")
    assert done.returncode == 0, done.err
    last = json.loads(path.read_text().splitlines()[-1])
    # A captured machine stands still.
    assert [(one["device"], one["bytes_read"]) for one in last["job_disk"]] == [("vda", 0)]


def test_a_job_in_a_shared_group_has_no_devices(run, tmp_path):
    path = tmp_path / "run.jsonl"
    done = run("-i", 0.2, "-o", path, "-q", "--no-summary", "--metrics", "job_disk", "--", "sleep", 0.3)
    assert done.returncode == 0, done.err
    assert json.loads(path.read_text().splitlines()[-1])["job_disk"] in (None, [])


def test_the_summary_lists_the_devices(run, tmp_path):
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["job_disk"] = [{"device": "vda", "bytes_read": i << 20, "bytes_written": 0}, {"device": "sdb", "bytes_read": 0, "bytes_written": i << 30},
                           {"device": "sdc", "bytes_read": 0, "bytes_written": 0}]
    path = recordings.write(tmp_path / "a.jsonl", samples)
    text = run("summary", path).out
    assert "\n             vda: read 7 MiB, written 0\n             sdb: read 0, written 7 GiB\n" in text.replace(".00", ""), text
    disks = json.loads(run("summary", "--json", path).out)["disks"]
    assert disks[:2] == [{"device": "vda", "read_bytes": 7 << 20, "written_bytes": 0}, {"device": "sdb", "read_bytes": 0, "written_bytes": 7 << 30}]
