"""--cloud: the cloud of this machine, in the recording."""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from conftest import ROOTS  # noqa: E402
from sentinel import Metadata  # noqa: E402
from sentinel_metadata import FIRMWARE, VENDORS, service  # noqa: E402
from sentinel_support import needs_net  # noqa: E402

pytestmark = needs_net
MEMBERS = ["vendor_id", "account_id", "region_id", "zone_id", "instance_type"]
MACHINE = ROOTS / "hand-made-vm-3.10" / "t0"


@pytest.fixture
def serve():
    servers = []

    def start(vendor, trouble=None):
        server = Metadata(service(VENDORS[vendor][0]) if vendor else {})
        server.trouble = trouble
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def machine(tmp_path):
    """Makes a fixture machine with a vendor's firmware; None: without any."""
    def make(vendor):
        root = tmp_path / "root"
        shutil.copytree(MACHINE, root, symlinks=True)
        shutil.rmtree(root / "sys/class/dmi", ignore_errors=True)
        if vendor:
            (root / "sys/class/dmi/id").mkdir(parents=True)
            for name, text in FIRMWARE[vendor].items():
                (root / "sys/class/dmi/id" / name).write_text(text + "\n")
        return root
    return make


def clouds(samples):
    return [sample["cloud"] for sample in samples if sample["cloud"]]


@pytest.mark.parametrize("vendor", ["aws", "hcloud", "azure"])
def test_the_cloud_is_in_one_sample(vendor, serve, machine, run, helpers):
    server = serve(vendor)
    result = run("--root", machine(vendor), "--cloud", "-i", 0.2, "--duration", 2, env={"TRACKER_METADATA_URL": server.url})
    assert (result.returncode, result.err) == (0, "")
    samples = helpers.json_lines(result.out)
    expected = VENDORS[vendor][1]
    assert clouds(samples) == [{name: expected["cloud_" + name] for name in MEMBERS}]
    assert list(samples[0])[-4:-1] == ["run_start", "cloud", "run_end"]


def test_a_snapshot_has_it(serve, machine, run, tmp_path):
    server = serve("aws")
    run("--root", machine("aws"), "--cloud", "-i", 0.2, "--duration", 2, "-o", tmp_path / "run.jsonl",
        env={"TRACKER_METADATA_URL": server.url})
    result = run("export", tmp_path / "run.jsonl", "-o", tmp_path / "run.snapshot", "--format", "snapshot")
    assert result.returncode == 0, result.err
    expected = VENDORS["aws"][1]
    assert json.loads(gzip.decompress((tmp_path / "run.snapshot").read_bytes()))["cloud_info"] == {
        "vendor": "aws", "instance_type": expected["cloud_instance_type"], "region": expected["cloud_region_id"],
        "discovery_time": None}


def test_without_the_option_no_service_is_asked(serve, run, helpers):
    server = serve("aws")
    result = run("-i", 0.1, "--", "sleep", "0.3", env={"TRACKER_METADATA_URL": server.url})
    assert not clouds(helpers.json_lines(result.stderr)) and not server.requests


def test_no_service_is_asked_before_the_job_runs(run, tmp_path):
    """Replaces the program that asks, and shows its environment at its start. The recorder then has three children:
    the witness of signals, that program and the job.
    """
    program = tmp_path / "net"
    program.write_text(f"""#!/bin/sh
echo "$@" >{tmp_path}/arguments
read word || exit
read -r pid name state parent rest </proc/$$/stat
for try in 1 2 3; do set -- $(cat /proc/$parent/task/$parent/children); echo $# >>{tmp_path}/children; done
echo cloud_vendor_id=somebody
echo end
""")
    program.chmod(0o755)
    result = run("--cloud", "-i", 0.1, "--", "sleep", "1", env={"TRACKER_NET": str(program)})
    assert result.returncode == 0 and "--when-told" in (tmp_path / "arguments").read_text()
    assert max(map(int, (tmp_path / "children").read_text().split())) == 3
    assert [cloud["vendor_id"] for cloud in clouds(list(map(json.loads, result.err.splitlines())))] == ["somebody"]


def test_a_cloud_that_is_none(serve, machine, run, helpers):
    server = serve(None)
    result = run("--root", machine(None), "--cloud", "-i", 0.2, "--duration", 2, env={"TRACKER_METADATA_URL": server.url})
    assert clouds(helpers.json_lines(result.out)) == [dict.fromkeys(MEMBERS)]
    assert server.requests


def test_a_service_that_hangs_holds_up_nothing(serve, run, helpers):
    server = serve(None, lambda request: "hang 5")
    result = run("--cloud", "-i", 0.1, "--", "sleep", "0.3", env={"TRACKER_METADATA_URL": server.url})
    assert result.returncode == 0 and result.wall_secs < 4
    samples = helpers.json_lines(result.stderr)
    assert len(samples) >= 3 and samples[-1]["run_end"]["descendants_running"] == 0
    assert samples[-1]["cpu"]["process_count"] is not None and max(s["cpu"]["process_child_count"] for s in samples) == 0


def test_facts_can_be_kept_back(serve, machine, run, helpers):
    server = serve("aws")
    result = run("--root", machine("aws"), "--cloud", "-i", 0.2, "--duration", 2,
                 env={"TRACKER_METADATA_URL": server.url, "TRACKER_CLOUD_ACCOUNT_ID": "0"})
    [cloud] = clouds(helpers.json_lines(result.out))
    assert cloud["account_id"] is None and cloud["vendor_id"] == "aws"


def test_without_the_program(run, helpers):
    result = run("--cloud", "-q", "--", "true", env={"TRACKER_NET": "/nonexistent"})
    assert result.returncode == 0 and "resource-tracker-net cannot be started" in result.err
    assert run("--cloud", "-q", "--", "true", env={"TRACKER_NET": "/bin/true"}).err == ""


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_the_recorder_itself_connects_to_nobody(no_leak_check, serve, binary, tmp_path, helpers):
    server = serve(None)
    trace = tmp_path / "trace"
    subprocess.run([shutil.which("strace"), "-o", trace, "-e", "trace=%network", binary, "--cloud", "-q", "-i", "0.1", "--",
                    "sleep", "0.5"], env={**helpers.clean_environment(), "TRACKER_METADATA_URL": server.url}, check=True)
    calls = trace.read_text()
    # A netlink socket reaches only the kernel.
    assert "socketpair(AF_UNIX" in calls and set(re.findall(r"\bsocket\((\w+)", calls)) <= {"AF_NETLINK"}
    assert "connect(" not in calls and "sin_port" not in calls
