"""Memory of forks that grows without page faults of their own: another process writes it, or the kernel copies it."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import exact
import memory_truth

# The memory of the machine tells of such copies, so that other programs hide them.
pytestmark = pytest.mark.alone
ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OTHER = "ordinary" if exact.is_root() and exact.installed("setpriv") else "self"
# With an error of 1 MiB, all were told as 100 of 400 MiB for eight seconds.
MIB, FORKS = 100, 3
# On a busy machine, the kernel refuses to make some of the huge pages.
JOBS = {
    "huge pages": ("fork 3 { sleep 700 collapse sleep 2000 }", 0.6),
    "written by the parent": ("fork 3 { sleep 4500 } sleep 700 write-forks", 0.95),
    "filled": ("fork 3 { refill sleep 1500 }", 0.95),
}


@pytest.fixture(scope="module")
def programs(binary, tmp_path_factory):
    """Returns (recorder, job) at a place where every user may run them."""
    with tempfile.TemporaryDirectory(prefix="rt-copies-") as folder:
        os.chmod(folder, 0o755)
        job = memory_truth.build_job(binary, tmp_path_factory.mktemp("job"))
        yield shutil.copy(binary, folder), shutil.copy(job, folder)


def told_of(programs, words, user, attach):
    """Returns [(MiB, error)] of each sample."""
    recorder, job = programs
    as_user = ORDINARY if user == "ordinary" else []
    with tempfile.TemporaryDirectory(prefix="rt-copies-") as folder:
        os.chmod(folder, 0o777)
        recording = pathlib.Path(folder, "run.jsonl")
        record = [*as_user, recorder, "-i", "0.4", "-o", recording, "-q", "--no-summary"]
        if attach:
            with subprocess.Popen([*as_user, job, *words], cwd=folder) as process:
                subprocess.run([*record, "--pid", str(process.pid)], check=True, timeout=60)
            assert process.returncode == 0
        else:
            subprocess.run([*record, "--", job, *words], check=True, timeout=60, cwd=folder)
        cpus = [json.loads(line)["cpu"] for line in recording.open()]
    return [(cpu["process_memory_mib"], cpu["process_memory_error_mib"] or 0) for cpu in cpus if cpu["process_memory_mib"] is not None]


@pytest.mark.parametrize("user, attach", [("self", False), (OTHER, True)], ids=["wrapped", "attached"])
@pytest.mark.parametrize("name", JOBS)
def test_pages_that_forks_got_without_page_faults_count(programs, name, user, attach):
    program, least = JOBS[name]
    told = told_of(programs, f"private {MIB} {program}".split(), user, attach)
    truth = MIB * (1 + FORKS)
    assert sum(least * truth <= mib <= 1.05 * truth for mib, _ in told) >= 2, str(told)
