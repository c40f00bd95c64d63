"""resource-tracker-net discover: facts about this machine and its cloud."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from namespaces import needs_private_mounts  # noqa: E402
import sentinel_metadata  # noqa: E402
from sentinel import Metadata  # noqa: E402
from sentinel_metadata import FIRMWARE, VENDORS, facts, service, without_tokens  # noqa: E402
import terminals  # noqa: E402
from sentinel_support import needs_net, net_program  # noqa: E402

pytestmark = needs_net
NOBODY = facts(None)


@pytest.fixture
def serve():
    servers = []

    def start(answers):
        server = Metadata(service(answers) if isinstance(answers, dict) else answers)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def discover(helpers):
    def run(what="cloud", *arguments, url=None, root=None, env=None, prefix=()):
        environment = dict(helpers.clean_environment(), **(env or {}))
        if url:
            environment["TRACKER_METADATA_URL"] = url
        command = [*prefix, net_program(), "discover", what, *(["--root", root] if root else []), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20,
                              stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return run


def make_root(folder, firmware=None, **files):
    """Makes a fixture machine. Without firmware it has no DMI, like many small machines and containers."""
    (folder / "proc").mkdir(parents=True)
    if firmware is not None:
        dmi = folder / "sys" / "class" / "dmi" / "id"
        dmi.mkdir(parents=True)
        for name, text in firmware.items():
            (dmi / name).write_text(text + "\n")
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def found(answer):
    cloud = dict(answer["cloud"])
    assert 0 <= cloud.pop("discovery_secs") < 5
    return cloud


@pytest.mark.parametrize("vendor", VENDORS)
def test_each_cloud_is_told_from_all_others(vendor, serve, discover, tmp_path):
    """Without firmware, the questions of every vendor go to this vendor's service, and only its own answers are accepted."""
    answers, expected = VENDORS[vendor]
    server = serve(answers)
    assert found(discover(url=server.url, root=make_root(tmp_path / "root"))) == expected


def test_all_vendors_are_asked_until_one_is_certain(serve, discover, tmp_path):
    server = serve({})
    assert found(discover(url=server.url, root=make_root(tmp_path / "root"))) == NOBODY
    paths = {request["path"] for request in server.requests}
    assert {"/latest/api/token", "/conf?format=json", "/opc/v2/instance/", "/hetzner/v1/metadata"} <= paths


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_firmware_is_asked_first(vendor, serve, discover, tmp_path):
    answers, expected = VENDORS[vendor]
    server = serve(answers)
    assert found(discover(url=server.url, root=make_root(tmp_path / "root", FIRMWARE[vendor]))) == expected
    asked = {f"{request['method']} {request['path']}" for request in server.requests}
    assert asked <= set(answers), "somebody else was asked"


@pytest.mark.parametrize("firmware", [
    {"sys_vendor": "Dell Inc.", "product_name": "PowerEdge R740"}, {"sys_vendor": "VMware, Inc."},
    {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": "None"}, {}])
def test_other_machines_ask_nobody(firmware, serve, discover, tmp_path):
    server = serve(VENDORS["aws"][0])
    root = make_root(tmp_path / "root", {"bios_vendor": "American Megatrends", **firmware})
    assert found(discover(url=server.url, root=root)) == NOBODY
    assert not server.requests


@pytest.mark.parametrize("answers,expected", [
    (without_tokens(sentinel_metadata.aws()), VENDORS["aws"][1]),
    (sentinel_metadata.aws("amazonaws.com.cn", "cn-north-1"),
     facts("aws", "cn-north-1", "cn-north-1b", "g4dn.xlarge", "123456789012")),
    (sentinel_metadata.aws("amazonaws.com.example"), NOBODY),
    (sentinel_metadata.aws("nova"), NOBODY),
    (without_tokens(sentinel_metadata.ALICLOUD), VENDORS["alicloud"][1]),
    ({key: value for key, value in sentinel_metadata.aws().items() if "identity" not in key and "zone" not in key},
     facts("aws", "us-west-2", None, "g4dn.xlarge")),
    ({**VENDORS["ovh"][0], "GET /openstack/latest/meta_data.json": '{"availability_zone": "nova"}'},
     facts("ovh", None, None, "b2-7")),
    ({**VENDORS["ovh"][0], "GET /openstack/latest/network_data.json":
      '{"services": [{"type": "dns", "address": "1.1.1.1"}]}'}, NOBODY),
    ({"GET /hetzner/v1/metadata": "region: eu-central\n"}, NOBODY),
    ({"GET /metadata/instance?api-version=2021-02-01": '{"compute": {"location": "x", "vmSize": "y"}}'}, NOBODY),
    ({"GET /computeMetadata/v1/instance/machine-type": "x/y", "GET /computeMetadata/v1/instance/zone": "a-b"}, NOBODY),
])
def test_old_services_and_imitations(answers, expected, serve, discover, tmp_path):
    assert found(discover(url=serve(answers).url, root=make_root(tmp_path / "root"))) == expected


@pytest.mark.parametrize("body", [b"", b"ok", b"unknown", b"<html>Welcome to the portal</html>", b"{}", b"[]", b"null",
                                  b"\x00\xff\xfe" * 100, b"{" * 5000, b'{"compute":' * 2000, b"x" * 1000000],
                         # The name of a test is in the environment of its programs, which is limited.
                         ids=lambda body: repr(body[:20]))
def test_a_friendly_stranger(body, serve, discover, tmp_path):
    """A proxy or a portal that answers everything with success does not count as a cloud."""
    server = serve(lambda request: (200, body))
    assert found(discover(url=server.url, root=make_root(tmp_path / "root"))) == NOBODY


def test_the_first_vendor_of_the_list_wins_over_a_faster_one(serve, discover, tmp_path):
    both = {**VENDORS["aws"][0], **VENDORS["oracle"][0]}
    server = serve(both)
    server.trouble = lambda request: "slow 0.05" if "latest" in request["path"] else None
    for number in range(3):
        assert found(discover(url=server.url, root=make_root(tmp_path / f"root{number}"))) == VENDORS["aws"][1]


@pytest.mark.parametrize("trouble", ["hang 5", "drip", "reset", "cut", "garbage", "huge", 500, 302])
def test_services_in_trouble_cost_little_time(trouble, serve, discover, tmp_path):
    server = serve(VENDORS["gcp"][0])
    server.trouble = lambda request: trouble
    started = time.monotonic()
    assert found(discover(url=server.url, root=make_root(tmp_path / "root"))) == NOBODY
    assert time.monotonic() - started < 4.5


def test_requests_name_only_the_needed_members(serve, discover, tmp_path):
    """A service may hang in the middle; its answers until then count."""
    server = serve(VENDORS["aws"][0])
    server.trouble = lambda request: "hang 5" if "identity" in request["path"] else None
    started = time.monotonic()
    cloud = found(discover(url=server.url, root=make_root(tmp_path / "root")))
    assert time.monotonic() - started < 4.5
    assert cloud == {**VENDORS["aws"][1], "cloud_account_id": None}


def test_redirects_are_not_followed(serve, discover, tmp_path):
    server = serve(VENDORS["oracle"][0])
    front = serve(lambda request: (307, b"", [("Location", server.url + request["path"])]))
    assert found(discover(url=front.url, root=make_root(tmp_path / "root"))) == NOBODY
    assert not server.requests


def test_cloud_facts_can_be_kept_back(serve, discover, tmp_path):
    cloud = found(discover(url=serve(VENDORS["aws"][0]).url, root=make_root(tmp_path / "root"),
                           env={"TRACKER_CLOUD_ACCOUNT_ID": "0"}))
    assert cloud == {**VENDORS["aws"][1], "cloud_account_id": None}


# ---- the host -------------------------------------------------------------------------------------------------

MACHINE_ID = "0123456789abcdef0123456789abcdef"


def test_this_host(discover):
    host = discover("host")["host"]
    assert list(host) == ["host_id", "host_hostname", "host_ip", "host_server_allocation", "host_vcpus",
                          "host_cpu_model", "host_memory_mib", "host_gpu_model", "host_gpu_count",
                          "host_gpu_memory_mib", "host_storage_gb"]
    assert host["host_hostname"] == os.uname().nodename and host["host_vcpus"] == os.cpu_count()
    route = shutil.which("ip") and subprocess.run(["ip", "-4", "route", "show", "default"], capture_output=True,
                                                  text=True).stdout
    if route:
        interface = re.search(r"dev (\S+)", route)[1]
        addresses = subprocess.run(["ip", "-4", "-o", "addr", "show", "dev", interface, "scope", "global"],
                                   capture_output=True, text=True).stdout
        assert host["host_ip"] == re.search(r"inet ([\d.]+)", addresses)[1]


PAIR = "ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up; "


@needs_private_mounts
@pytest.mark.parametrize("network, address", [
    ("ip addr add 192.0.2.7/32 dev lo; ip route add default dev lo", "192.0.2.7"),
    ("ip addr add 192.0.2.7/32 dev lo", None),
    ("ip addr add 169.254.7.7/32 dev lo; ip route add default dev lo", None),
    (PAIR + "ip addr add 192.0.2.7/32 dev lo; ip addr add 192.0.2.8/24 dev d0; "
            "ip route add default dev lo metric 5; ip route add default dev d0 metric 4", "192.0.2.8"),
    (PAIR + "ip addr add 192.0.2.7/32 dev lo; ip addr add 192.0.2.8/24 dev d0; "
            "ip route add default dev lo metric 4; ip route add default dev d0 metric 5", "192.0.2.7"),
    (PAIR + "ip addr add 2001:db8::7/64 dev d0 nodad; ip -6 route add default dev d0", "2001:db8::7"),
    (PAIR + "ip -6 route add default dev d0", None),
])
def test_an_address_is_that_of_the_default_route(network, address, discover):
    """In a network of its own. Addresses of the loopback and of one link do not count."""
    if "veth" in network and subprocess.run(["unshare", "-n", "sh", "-ec", PAIR], capture_output=True).returncode:
        pytest.skip("no pair of interfaces can be made")
    words = ["unshare", "-n", "sh", "-ec", f'ip link set lo up; {network}; exec "$@"', "sh"]
    assert discover("host", prefix=words)["host"]["host_ip"] == address


def test_limits_stand_beside_the_machine(discover):
    """The limits are the container's, not the machine's."""
    answer = discover("host")
    assert list(answer["limits"]) == ["cpu_limit_cores", "memory_limit_mib", "cpuset_cores"]
    allowed = os.sched_getaffinity(0)
    assert answer["limits"]["cpuset_cores"] == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        answer = discover("host")
    finally:
        os.sched_setaffinity(0, allowed)
    assert answer["limits"]["cpuset_cores"] == 1 and answer["host"]["host_vcpus"] == os.cpu_count()


def test_limits_of_a_container(discover, helpers):
    root = helpers.roots / "hand-made-kubernetes2-5.15" / "t0"
    assert discover("host", root=root)["limits"] == {"cpu_limit_cores": 1.0, "memory_limit_mib": 768.0, "cpuset_cores": 8}


def test_a_memory_limit_stands_beside_the_machine(discover, limited_group):
    answer = discover("host", prefix=["sh", "-c", f'echo $$ >{limited_group}/cgroup.procs; exec "$@"', "sh"])
    assert answer["limits"]["memory_limit_mib"] == 512.0 and answer["host"]["host_memory_mib"] > 512


@pytest.fixture
def limited_group():
    """Makes a control group with 512 MiB, of either version."""
    for top, name in ("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"):
        folder = pathlib.Path(top) / f"resource-tracker-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        if (folder / name).exists():  # not an ordinary folder, and the controller is there
            (folder / name).write_text(str(512 << 20))
            yield folder
            folder.rmdir()
            return
        folder.rmdir()
    pytest.skip("no control group with a memory limit can be made")


@pytest.mark.parametrize("firmware,machine_id,expected", [
    (FIRMWARE["aws"], MACHINE_ID, "i-0123456789abcdef0"),
    ({"board_asset_tag": "i-1234abcd"}, MACHINE_ID, "i-1234abcd"),
    ({"board_asset_tag": "Not Specified"}, MACHINE_ID, MACHINE_ID),
    ({"board_asset_tag": "Default string"}, MACHINE_ID, MACHINE_ID),
    ({"board_asset_tag": "i-beam"}, MACHINE_ID, MACHINE_ID),
    (FIRMWARE["azure"], MACHINE_ID, MACHINE_ID),
    (None, MACHINE_ID, MACHINE_ID),
    (None, "uninitialized", None),
    (None, "", None),
])
def test_host_id(firmware, machine_id, expected, discover, tmp_path):
    root = make_root(tmp_path / "root", firmware, **{"etc__machine-id": machine_id + "\n"})
    assert discover("host", root=root)["host"]["host_id"] == expected


def test_arm_machines_have_names(discover, tmp_path):
    cpuinfo = "".join(f"processor\t: {number}\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                      f"CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n" for number in range(4))
    host = discover("host", root=make_root(tmp_path / "root", proc__cpuinfo=cpuinfo))["host"]
    assert host["host_vcpus"] == 4 and "Neoverse-N1" in host["host_cpu_model"]


@pytest.mark.parametrize("machine", ["hand-made-workstation-6.1", "hand-made-hypervisor-5.15", "hand-made-storage-zfs-5.15", "hand-made-vm-3.10"])
def test_volumes_are_not_counted_beside_their_disks(machine, discover, helpers):
    """nvme, dm-crypt, LVM, md, loop, zram, optical drives."""
    root = helpers.roots / machine / "t0"
    leaves = 0
    for block in sorted((root / "sys" / "class" / "block").iterdir()):
        slaves = block / "slaves"
        if re.match(r"(dm-|md|loop|zram|ram|sr|fd|zd)", block.name) or (block / "partition").exists() or (
                slaves.exists() and any(slaves.iterdir())):
            continue
        leaves += int((block / "size").read_text()) * 512
    assert leaves
    assert discover("host", root=root)["host"]["host_storage_gb"] == pytest.approx(leaves / 1e9, abs=0.001)


def test_a_machine_that_tells_nothing(discover, tmp_path):
    host = discover("host", root=make_root(tmp_path / "root"))["host"]
    assert set(host.values()) == {None}


def test_facts_can_be_kept_back(discover):
    host = discover("host", env={"TRACKER_HOST_IP": "0", "TRACKER_HOST_ID": "no", "TRACKER_HOST_STORAGE_GB": "off",
                                 "TRACKER_HOST_HOSTNAME": ""})["host"]
    assert host["host_ip"] is None and host["host_id"] is None and host["host_storage_gb"] is None
    assert host["host_hostname"]


def test_the_names_of_python(serve, discover, tmp_path):
    answer = discover("all", "--python", url=serve(VENDORS["aws"][0]).url, root=make_root(tmp_path / "root"))
    assert list(answer["server_info"]) == ["os", "vcpus", "memory_mib", "gpu_count", "gpu_names", "gpu_name",
                                           "gpu_memory_mib"]
    assert answer["server_info"]["gpu_count"] == 0 and answer["server_info"]["gpu_names"] == []
    cloud = answer["cloud_info"]
    assert isinstance(cloud.pop("discovery_time"), float)
    assert cloud == {"vendor": "aws", "instance_type": "g4dn.xlarge", "region": "us-west-2"}
    nobody = discover("cloud", "--python", root=make_root(tmp_path / "other", {"sys_vendor": "Dell Inc."}))
    assert {**nobody["cloud_info"], "discovery_time": 0} == {
        "vendor": "unknown", "instance_type": "unknown", "region": "unknown", "discovery_time": 0}
    memory_kib = int(re.search(r"MemTotal: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    assert discover("host", "--python")["server_info"]["memory_mib"] == round(memory_kib / 1024, 2)


@needs_private_mounts
def test_a_dead_resolver_and_no_network(helpers, tmp_path):
    """Without firmware, with a name server that swallows questions, and without a network, the answer takes at most 3
    s.
    """
    resolver, hosts = tmp_path / "resolv.conf", tmp_path / "nsswitch.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:3\n")
    hosts.write_text("hosts: files dns\n")
    root = make_root(tmp_path / "root")
    script = (f"mount --bind {resolver} /etc/resolv.conf && mount --bind {hosts} /etc/nsswitch.conf && ip link set lo up && "
              'exec "$@"')
    sink = ("import socket,subprocess,sys\n"
            "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.bind(('127.0.0.1',53))\n"
            "sys.exit(subprocess.call(sys.argv[1:]))\n")
    done = subprocess.run(["unshare", "-n", "-m", "sh", "-ec", script, "sh", sys.executable, "-c", sink, net_program(),
                           "discover", "cloud", "--root", root], env=helpers.clean_environment(), capture_output=True,
                          text=True, timeout=20, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    cloud = json.loads(done.stdout)["cloud"]
    assert cloud.pop("discovery_secs") < 4.5 and cloud == NOBODY


def test_a_person_gets_a_list_and_a_program_gets_json(binary, helpers, tmp_path):
    environment = {**helpers.clean_environment(), "TERM": "xterm"}
    arguments = ["discover", "host", "--root", helpers.roots / "hand-made-cgroup2-6.6" / "t0"]
    shown = terminals.plain(terminals.show(binary, *arguments, environment=environment, cwd=tmp_path, status=0))
    piped = json.loads(subprocess.run([binary, *arguments], capture_output=True, check=True, env=environment, cwd=tmp_path).stdout)
    assert re.search(rf"^  CPUs +{piped['host']['host_vcpus']}$", shown, re.M) and "Limits of a process here" in shown, shown
    for option in ("--json", "--python", "--lines"):
        text = terminals.show(binary, *arguments, option, environment=environment, cwd=tmp_path, status=0)
        assert text.startswith("{") or text.endswith("end\n"), text
