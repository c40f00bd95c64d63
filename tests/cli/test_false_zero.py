"""A figure whose source is missing, or says something impossible, is null with a reason: never 0, and never negative."""
import errno
import json
import shutil
import signal
import subprocess

import pytest

import exact
from conftest import ROOTS, clean_environment, csv_rows, json_lines, wait_until
from gpu import stay_until
from libc_words import words_of
from namespaces import needs_private_mounts

MEMORY = """\
MemTotal:        4194304 kB
MemFree:         1024000 kB
MemAvailable:    {available} kB
Buffers:           10240 kB
Cached:          1024000 kB
SwapTotal:       {total} kB
SwapFree:        {free} kB
"""


def lay(folder, files):
    """Writes a root: texts by their paths."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def record_until(spawn):
    """record_until(path, words, ...) records until the recording has the words; returns stderr. A busy helper answers late."""

    def record(path, words, *options):
        path.unlink(missing_ok=True)
        process = spawn("-i", 0.3, "-q", "--no-summary", "--why", "-o", path, *options, stderr=subprocess.PIPE)
        wait_until(lambda: path.exists() and words in path.read_text(), secs=30, what=words)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=20)[1].decode()

    return record


@pytest.fixture
def record_root(run, record_until, tmp_path):
    """record_root({path: text}) records such a machine; returns the last sample, the last CSV row, the reasons and the summary."""

    def record(files, until='"sample":1,'):
        root = lay(tmp_path / "root", files)
        outputs = tmp_path / "root.jsonl", tmp_path / "root.csv"
        said = record_until(outputs[0], until, "--root", root, "-o", outputs[1])
        reasons = dict(line.split(": ", 3)[2:] for line in said.splitlines() if ": null: " in line)
        summary = run("summary", outputs[0]).out
        return json_lines(outputs[0])[-1], csv_rows(outputs[1])[-1], reasons, summary

    return record


@pytest.fixture
def record_change(spawn, tmp_path):
    """record_change(before, after) records a machine whose files change after the first sample; returns all samples."""

    def record(before, after, *options):
        root, path = lay(tmp_path / "root", before), tmp_path / "change.jsonl"
        path.unlink(missing_ok=True)
        process = spawn("--root", root, "-i", 0.2, "-q", "--no-summary", "-o", path, *options)
        wait_until(lambda: path.exists() and len(path.read_bytes().splitlines()) >= 2)
        # A file that is open stays the same one.
        lay(root, after)
        seen = len(path.read_bytes().splitlines())
        wait_until(lambda: len(path.read_bytes().splitlines()) >= seen + 3)
        process.send_signal(signal.SIGINT)
        process.wait(10)
        return json_lines(path)

    return record


# ---- memory ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("total, free", [
    (1048576, 2097152), (18014398509481983, 1048576), (18014398509481983, 18014398509481983), (9007199254740988, 9007199254740988),
    (0, 18446744073709346016), (0, 4)])
def test_impossible_swap_is_null_with_a_reason(record_root, total, free):
    """lxcfs: free may exceed the total, and a limit that is not set is a huge number."""
    sample, _, reasons, summary = record_root({"proc/meminfo": MEMORY.format(available=2048000, total=total, free=free)})
    assert sample["memory"]["swap_total_mib"] == (total / 1024 if total <= 1048576 else None)
    for name in ("swap_used_mib", "swap_used_pct"):
        assert sample["memory"][name] is None and reasons[f"memory.{name}"] == "the kernel gives no usable value"
    assert "swap" not in summary.lower()


def test_percentage_of_swap_is_of_the_swap_at_that_sample(run, record_change, tmp_path):
    """512 MiB of swap, all in use, and then 1.5 GiB more. A percentage of the first size would be 400 %."""
    text = {total: MEMORY.format(available=2048000, total=total << 10, free=free << 10) for total, free in ((512, 0), (2048, 1536), (0, 0))}
    full = {"memory": {"swap_total_mib": 512.0, "swap_used_mib": 512.0, "swap_used_pct": 100.0}}
    for total, expected in (2048, [2048.0, 512.0, 25.0]), (0, [0.0, 0.0, 0.0]):
        samples = record_change({"proc/meminfo": text[512]}, {"proc/meminfo": text[total]})
        assert samples[0]["memory"] | full["memory"] == samples[0]["memory"]
        assert [samples[-1]["memory"][name] for name in full["memory"]] == expected
        change = json.loads(run("summary", "--json", tmp_path / "change.jsonl").out)["limit_changes"]
        assert [(one["what"], one["from"], one["to"]) for one in change] == [("swap_total_mib", 512.0, float(total))]


def test_swap_of_0_is_known_to_be_0(record_root):
    sample, _, _, _ = record_root({"proc/meminfo": MEMORY.format(available=2048000, total=0, free=0)})
    assert sample["memory"]["swap_used_mib"] == 0 and sample["memory"]["swap_used_pct"] == 0


@pytest.mark.parametrize("total, available", [(4194304, 4194308), (4194304, 1 << 53), (0, 0)])
def test_available_memory_above_the_total_is_null(record_root, total, available):
    text = MEMORY.format(available=available, total=0, free=0).replace("4194304", str(total))
    sample, row, reasons, summary = record_root({"proc/meminfo": text.replace("Cached", "Uncached")})
    for name in ("used_mib", "used_pct"):
        assert sample["memory"][name] is None and reasons[f"memory.{name}"] == "the kernel gives no usable value"
    assert row["system_memory_used_mib"] == ""
    assert "Memory     not recorded" in summary


# ---- the cache of ZFS -----------------------------------------------------------------------------------------------

ZFS = {
    "proc/meminfo": "MemTotal: 16777216 kB\nMemFree: 2000000 kB\nMemAvailable: 3000000 kB\nBuffers: 0 kB\nCached: 1000000 kB\n",
    "proc/spl/kstat/zfs/arcstats": "13 1 0x01 96 4608 1 2\nname type data\nc_min 4 1000000000\nc_max 4 17000000000\nsize 4 8589934592\n",
}


def test_0_available_beside_much_free_memory_is_not_believed(record_root):
    """MemAvailable is 0 on a machine that has none left, and where a kernel that is emulated does not fill its line."""
    text = MEMORY.format(total=0, free=0, available=0)
    sample, _, _, summary = record_root({"proc/meminfo": text.replace("1024000", "2048000", 1)})
    assert sample["memory"]["used_pct"] == 26.51 and "100 %" not in summary
    sample, _, _, _ = record_root({"proc/meminfo": text.replace("1024000", "10240")})
    assert sample["memory"]["used_pct"] == 100


def test_a_memory_of_0_is_unknown(record_root):
    sample, _, reasons, _ = record_root({"proc/meminfo": "MemTotal: 0 kB\nMemFree: 0 kB\nMemAvailable: 0 kB\n"})
    assert sample["memory"]["total_mib"] is None and "memory.total_mib" in reasons


def test_a_frozen_line_without_cores_leaves_times_unknown(record_root):
    sample, _, _, _ = record_root({"proc/stat": "cpu  100 0 100 100 0 0 0 0 0 0\nctxt 5\n"})
    assert sample["cpu"]["utime_secs"] is None


def test_the_cache_of_zfs_is_available_on_a_host(record_root):
    host = {"proc/1/cgroup": "0::/init.scope\n", "proc/self/mountinfo": "22 1 8:1 / / rw - zfs rpool/root rw\n"}
    sample, _, _, summary = record_root({**ZFS, **host})
    assert sample["memory"]["available_mib"] == round((3000000 + (8589934592 - 1000000000) // 1024) / 1024, 3)
    assert sample["memory"]["used_pct"] == 37.94
    assert sample["memory"]["free_mib"] == 1953.125
    assert "38 % of 16.0 GiB (machine)" in summary


@pytest.mark.parametrize("marks", [
    {".dockerenv": ""},
    {"run/.containerenv": ""},
    {"run/systemd/container": "lxc"},
    {"proc/1/cgroup": "8:pids:/docker/7f3a\n0::/\n"},
    {"proc/self/mountinfo": "22 1 0:30 / / rw - zfs tank/ct rw\n23 22 0:31 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n"},
    {"proc/self/mountinfo": "22 1 0:30 / / rw - overlay overlay rw\n"},
], ids=lambda marks: " ".join(marks))
def test_a_container_may_not_have_the_cache_of_its_host(record_root, marks):
    sample, _, _, _ = record_root({**ZFS, **marks})
    assert sample["memory"]["used_pct"] == 82.12


@pytest.mark.parametrize("namespace, used_pct", [(4026531836, 37.94), (4026532450, 82.12)])
def test_the_number_of_the_pid_namespace_tells_a_container(record_root, tmp_path, namespace, used_pct):
    (tmp_path / "root/proc/self/ns").mkdir(parents=True)
    (tmp_path / "root/proc/self/ns/pid").symlink_to(f"pid:[{namespace}]")
    sample, _, _, _ = record_root(ZFS)
    assert sample["memory"]["used_pct"] == used_pct


@pytest.mark.parametrize("arcstats", [
    "size 4 17179869184\nc_min 4 0\n",  # as large as the machine, which has other used memory
    "size 4 1000\nc_min 4 1000000000\n",
    "size 4 8589934592\n",
    "nothing\n",
])
def test_an_odd_cache_of_zfs_changes_nothing(record_root, arcstats):
    sample, _, _, _ = record_root({**ZFS, "proc/spl/kstat/zfs/arcstats": arcstats})
    assert sample["memory"]["used_pct"] == 82.12


# ---- no /sys --------------------------------------------------------------------------------------------------------

def diskstats(**sectors):
    """Lines of /proc/diskstats: names with the sectors that were read and written."""
    return "".join(f" 259 {minor} {name} 1 0 {read} 0 1 0 {written} 0 0 0 0\n"
                   for minor, (name, (read, written)) in enumerate(sectors.items()))


@pytest.mark.parametrize("sys", [{}, {"sys/keep": ""}, {"sys/class/block/sda/size": "x", "sys/class/block/sda/dev": ""}],
                         ids=["absent", "empty", "other disks"])
def test_without_descriptions_of_disks_their_sum_is_null(record_change, sys):
    """A partition would count twice beside its disk, and leaving all out would be 0."""
    samples = record_change({"proc/diskstats": diskstats(vda=(2048, 0), vda1=(2048, 0), loop0=(8, 8)), **sys},
                            {"proc/diskstats": diskstats(vda=(4096, 0), vda1=(4096, 0), loop0=(8, 8))})
    assert all(one["totals"][name] is None for one in samples for name in ("disk_read_bytes", "disk_write_bytes"))
    assert all(not one["disk"] for one in samples)


def test_disks_without_sys_are_null_with_a_reason(record_root):
    files = {"proc/diskstats": diskstats(vda=(2048, 0)), "proc/self/cgroup": "0::/\n"}
    sample, row, reasons, summary = record_root(files)
    assert sample["disk"] is None and sample["numa"] is None and sample["energy"] is None
    for name in ("disk", "numa", "totals.disk_read_bytes", "totals.disk_write_bytes"):
        assert reasons[name] == "No such file or directory"
    assert row["system_disk_read_bytes"] == row["system_disk_write_bytes"] == ""
    # The folders of control groups are below /sys as well.
    assert reasons["limits.memory_limit_mib"] == reasons["limits.cpu_limit_cores"] == "the cgroup's files could not be found"
    assert "torage" not in summary


def test_idle_devices_without_description_leave_the_sum_known(record_root):
    """Such as those of a hypervisor that /sys hides from a container."""
    sample, _, _, _ = record_root({"proc/diskstats": diskstats(sdx=(0, 0))})
    assert sample["totals"]["disk_read_bytes"] == 0


def test_device_files_of_gpus_without_sys_leave_the_use_of_gpus_unknown(record_root):
    sample, _, reasons, _ = record_root({"dev/dri/renderD128": ""})
    for name in ("gpu_usage", "gpu_vram_mib", "gpu_utilized"):
        assert sample["totals"][name] is None and reasons[f"totals.{name}"] == "No such file or directory"
    sample, _, _, _ = record_root({"sys/class/drm/version": "drm"})
    assert sample["totals"]["gpu_usage"] == 0


@needs_private_mounts
def test_a_job_writes_and_no_disk_is_described(binary, tmp_path):
    job = "dd if=/dev/zero of=big bs=1M count=20 conv=fsync 2>/dev/null; sleep 0.5"
    subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys; exec "$@"', "sh", binary, "-i", "0.2", "-q", "-o", "run.jsonl",
                    "--", "sh", "-c", job], cwd=tmp_path, env=clean_environment(), check=True)
    samples = json_lines(tmp_path / "run.jsonl")
    assert all(one["totals"]["disk_write_bytes"] is None for one in samples)
    assert sum(one["cpu"]["process_disk_write_bytes"] for one in samples) >= 20 << 20 or exact.is_in_memory(tmp_path)


def net_dev(**received):
    return "a|b\nc|d\n" + "".join(f" {name}: {count} 1 0 0 0 0 0 0 {count} 1 0 0 0 0 0 0\n" for name, count in received.items())


ROUTE = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\nbr0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\n"


@pytest.mark.parametrize("files, names, total", [
    ({}, ["br0", "eth0"], None), ({}, ["eth0"], 100), ({"proc/net/route": ROUTE}, ["br0", "eth0"], 100),
], ids=["two", "one", "two with a route"])
def test_interfaces_without_description_count_once(record_change, files, names, total):
    """One may be the bridge that the other is a member of."""
    samples = record_change({"proc/net/dev": net_dev(**dict.fromkeys(names, 1000)), **files},
                            {"proc/net/dev": net_dev(**dict.fromkeys(names, 1100))})
    received = [one["totals"]["net_recv_bytes"] for one in samples]
    assert set(received) == {None} if total is None else sum(one or 0 for one in received) == total


# ---- energy ---------------------------------------------------------------------------------------------------------

def zone(number, name, energy, reach=262143328850):
    folder = f"sys/class/powercap/intel-rapl:{number}"
    return {f"{folder}/name": name, f"{folder}/energy_uj": f"{energy}\n", f"{folder}/max_energy_range_uj": f"{reach}\n"}


def joules(samples, number):
    return [one["energy"][number]["energy_joules"] for one in samples]


def test_a_counter_of_energy_that_began_again_without_a_range_is_unknown_once(record_change):
    samples = record_change({**zone(0, "package-0", 9000000, ""), **zone(1, "package-1", 1000000)},
                            {**zone(0, "package-0", 1000000, ""), **zone(1, "package-1", 4000000)})
    assert {value for value in joules(samples, 0) if value is not None} == {0}
    assert sum(value or 0 for value in joules(samples, 1)) == 3
    broken = [one for one in samples[1:] if one["energy"][0]["energy_joules"] is None]
    assert len(broken) == 2, "the interval of the fall, and the next one without a baseline"
    # The sum of the machine lacks a part there.
    assert all(one["cpu"]["energy_joules"] is None for one in broken)


def test_the_range_completes_a_counter_of_energy_that_began_again(record_change):
    samples = record_change(zone(0, "package-0", 9000000, 10000000), zone(0, "package-0", 1000000, 10000000))
    assert sum(value or 0 for value in joules(samples, 0)) == 2


def test_the_machine_has_no_sum_of_energy_without_one_of_its_sockets(record_root, tmp_path):
    blocked = tmp_path / "root/sys/class/powercap/intel-rapl:1/energy_uj"
    blocked.parent.mkdir(parents=True)
    blocked.symlink_to("energy_uj")
    files = {**zone(0, "package-0", 9000000), **zone(1, "package-1", 1)}
    del files["sys/class/powercap/intel-rapl:1/energy_uj"]
    sample, _, reasons, _ = record_root(files)
    assert sample["energy"][0]["energy_joules"] == 0 and sample["energy"][1]["energy_joules"] is None
    assert sample["cpu"]["energy_joules"] is None
    assert reasons["cpu.energy_joules"] == reasons["energy.energy_joules (package-1)"]
    assert reasons["cpu.energy_joules"] == words_of(errno.ELOOP)


# ---- each byte once -------------------------------------------------------------------------------------------------

def block(name, *below, **files):
    """A device in /sys, above those of `below`."""
    folder = f"sys/class/block/{name}/"
    return {folder + "size": "1000\n", folder + "queue/rotational": "0\n", **{f"{folder}slaves/{lower}": "" for lower in below},
            **{folder + path.replace("__", "/"): text for path, text in files.items()}}


def disk(name):
    return block(name, device__model="MODEL\n")


PATHS = {**block("nvme0c0n1", hidden="1\n"), **block("nvme0c1n1", hidden="1\n"), **block("nvme0n1", hidden="0\n")}
ONCE = {
    # The machine, the devices that move 8 sectors each way, and how many times these are the total.
    "NVMe paths, Linux 6.4 and later": (PATHS, ["nvme0c0n1", "nvme0n1"], {"nvme0n1"}, 1),
    "NVMe paths, Linux before 6.4": (PATHS, ["nvme0c0n1", "nvme0c1n1"], {"nvme0n1"}, 2),
    "NVMe path without its head": (PATHS, ["nvme0c0n1"], {"nvme0c0n1"}, 1),
    "partition": ({**disk("sda"), **block("sda1", partition="1\n")}, ["sda", "sda1"], {"sda"}, 1),
    "device mapper over two paths": ({**disk("sda"), **disk("sdb"), **block("dm-0", "sda", "sdb", dm__name="mpatha\n")},
                                     ["sda", "dm-0"], {"sda", "sdb", "dm-0"}, 1),
    "bcache": ({**disk("sda"), **block("bcache0", "sda")}, ["sda", "bcache0"], {"sda", "bcache0"}, 1),
    "drbd": ({**disk("sda"), **block("drbd0")}, ["sda", "drbd0"], {"sda", "drbd0"}, 1),
    "md": ({**disk("sda"), **disk("sdb"), **block("md0", "sda", "sdb", md__level="raid1\n")}, ["sda", "sdb", "md0"],
           {"sda", "sdb", "md0"}, 2),
    "zram": ({**disk("sda"), **block("zram0")}, ["sda", "zram0"], {"sda"}, 1),
    "loop": ({**disk("sda"), **block("loop0", loop__backing_file="/a")}, ["sda", "loop0"], {"sda"}, 1),
    "zvol": ({**disk("sda"), **block("zd0")}, ["sda", "zd0"], {"sda", "zd0"}, 1),
    "ublk": ({**disk("sda"), **block("ublkb0", device__uevent="")}, ["sda", "ublkb0"], {"sda", "ublkb0"}, 1),
    "nbd": ({**block("nbd0")}, ["nbd0"], {"nbd0"}, 1),
    "optical": ({**block("sr0", device__model="DVD\n")}, ["sr0"], {"sr0"}, 1),
}


@pytest.mark.parametrize("name", ONCE)
def test_a_byte_counts_once_in_the_total(record_change, name):
    machine, moving, shown, times = ONCE[name]
    devices = {path.split("/")[3] for path in machine} if name != "NVMe path without its head" else set(moving)
    before = {one: (0, 0) if "6.4" in name and one not in moving else (1000, 1000) for one in sorted(devices)}
    after = {one: (read + 8 * (one in moving), written + 8 * (one in moving)) for one, (read, written) in before.items()}
    samples = record_change({**machine, "proc/diskstats": diskstats(**before)}, {"proc/diskstats": diskstats(**after)})
    for total in ("disk_read_bytes", "disk_write_bytes"):
        assert sum(one["totals"][total] or 0 for one in samples) == 8 * 512 * times
    assert {row["device"] for row in samples[-1]["disk"]} == shown
    by_row = {row["device"]: row["read_bytes_total"] for row in samples[-1]["disk"]}
    if name.startswith("NVMe"):
        assert list(by_row.values()) == [(1000 * times + 8 * times) * 512]


def heads(samples):
    return [(one["totals"]["disk_read_bytes"], [row["read_bytes_per_sec"] for row in one["disk"]]) for one in samples]


# Devices of a machine in two moments, by how much they have read; none of it was read in between.
OTHER_DEVICES = {
    "another disk of the same name": (disk("sda"), ["8 0 sda 1000"], ["8 32 sda 900000"]),
    "a path that returns": (PATHS, ["259 0 nvme0n1 0", "259 1 nvme0c0n1 1000"],
                            ["259 0 nvme0n1 0", "259 1 nvme0c0n1 1000", "259 2 nvme0c1n1 5000"]),
    "a path that fails": (PATHS, ["259 0 nvme0n1 0", "259 1 nvme0c0n1 1000", "259 2 nvme0c1n1 5000"],
                          ["259 0 nvme0n1 0", "259 2 nvme0c1n1 9000"]),
}


@pytest.mark.parametrize("name", OTHER_DEVICES)
def test_counters_of_another_device_make_no_bytes(record_change, run, tmp_path, name):
    machine, before, after = OTHER_DEVICES[name]

    def text(devices):
        return {"proc/diskstats": "".join("{0} {1} {2} 1 0 {3} 0 1 0 0 0 0 0 0\n".format(*one.split()) for one in devices)}
    samples = record_change({**machine, **text(before)}, text(after))
    assert {total for total, _ in heads(samples[1:])} == {0, None}
    assert "Storage" not in run("summary", tmp_path / "change.jsonl").out


@pytest.mark.parametrize("path, name", [("proc/diskstats", "disk"), ("proc/net/dev", "network")])
@pytest.mark.parametrize("text", ["", "Inter-|\n face |\n", " 8 0 sda 1 2\n"], ids=["empty", "head", "cut"])
def test_a_list_without_devices_leaves_them_unknown(record_root, path, name, text):
    """A kernel lists at least lo. A machine without a disk writes elsewhere."""
    sample, _, reasons, summary = record_root({path: text, **disk("sda")})
    assert sample[name] is None and reasons[name] in ("No such device", "Bad message")
    assert all(sample["totals"][one] is None for one in sample["totals"] if one.startswith(name[:3] + "_re") or one.endswith("k_read_bytes"))
    assert "read 0" not in summary and "received 0" not in summary


def test_a_counter_that_began_again_makes_the_sum_a_lower_bound(record_change, run, tmp_path):
    names = "Inter-|\n face |\n eth0: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"
    record_change({"proc/net/dev": names.format(2 ** 32 - 5, 1000)}, {"proc/net/dev": names.format(3000, 3048)})
    assert "Network    at least: received unknown, sent 2.00 KiB" in run("summary", tmp_path / "change.jsonl").out


# ---- GPUs -----------------------------------------------------------------------------------------------------------

READINGS = ("utilization_pct memory_utilization_pct encoder_utilization_pct decoder_utilization_pct vram_total_bytes vram_used_bytes"
            " vram_used_pct temperature_celsius power_watts power_limit_watts energy_joules frequency_mhz memory_frequency_mhz fan_pct"
            " performance_state throttle_reasons pcie_rx_bytes_per_sec pcie_tx_bytes_per_sec nvlink_rx_bytes_per_sec"
            " nvlink_tx_bytes_per_sec ecc_corrected_errors ecc_uncorrected_errors core_count").split()


DEVICE, PROCESSES = '"gpu":[{', '"processes":[{'


@pytest.mark.parametrize("bits", [32, 64])
def test_numbers_with_all_bits_set_are_null_readings_of_nvml(run, nvml, tmp_path, bits):
    nvml.say("gpus 1", f"all_bits {bits}")
    # The driver first says that no process uses the device: a zero that is true then, and not for the rest of the run.
    job = ["sh", "-c", f"{stay_until(tmp_path / 'g.jsonl', DEVICE)}; printf 'process 0 %d c 300 25\\n' $$ >>{nvml.path};"
                       f" {stay_until(tmp_path / 'g.jsonl', PROCESSES)}"]
    done = run("-i", 0.3, "-q", "--why", "-o", tmp_path / "g.jsonl", "--", *job, env=nvml.env())
    samples = json_lines(tmp_path / "g.jsonl")
    gpu = samples[-1]["gpu"][0]
    assert {name: gpu[name] for name in READINGS if gpu[name] is not None} == {}
    assert gpu["processes"][0]["vram_bytes"] is None and gpu["processes"][0]["utilization_pct"] is None
    assert gpu["process_vram_bytes"] is None and gpu["energy_source"] is None and gpu["age_secs"] >= 0
    assert all(samples[-1]["totals"][name] is None for name in ("gpu_usage", "gpu_vram_mib", "gpu_utilized"))
    assert samples[-1]["cpu"]["process_gpu_vram_mib"] is None
    assert done.err.count("gpu.temperature_celsius (GPU-00000000-0000-0000-0000-000000000000): this kernel or device does not count it") == 1
    text = run("summary", tmp_path / "g.jsonl").out + run("recommend", tmp_path / "g.jsonl").out
    assert "nearly all memory" not in text and "4294967" not in text and "none by the job" not in text
    assert "the job's part is unknown" in text


def test_memory_above_that_of_the_device_is_null(run, nvml, tmp_path):
    nvml.say("gpus 1", "memory 0 1000 0 2000", "utilization 0 101 100")
    job = ["sh", "-c", stay_until(tmp_path / "g.jsonl", '"gpu":[{')]
    run("-i", 0.3, "-q", "-o", tmp_path / "g.jsonl", "--", *job, env=nvml.env())
    gpu = json_lines(tmp_path / "g.jsonl")[-1]["gpu"][0]
    assert gpu["vram_total_bytes"] == 1000 << 20
    assert gpu["vram_used_bytes"] is None and gpu["vram_used_pct"] is None and gpu["utilization_pct"] is None
    assert gpu["memory_utilization_pct"] == 100


def test_a_memory_of_0_is_unknown_and_never_full(run, nvml, tmp_path):
    nvml.say("gpus 1", "memory 0 0 0 0", "utilization 0 50 0")
    job = ["sh", "-c", f"printf 'process 0 %d c 0 50\\n' $$ >>{nvml.path}; {stay_until(tmp_path / 'g.jsonl', PROCESSES)}"]
    run("-i", 0.3, "-q", "-o", tmp_path / "g.jsonl", "--", *job, env=nvml.env())
    assert json_lines(tmp_path / "g.jsonl")[-1]["gpu"][0]["vram_total_bytes"] is None
    # A recording of an earlier version says 0.
    old = (tmp_path / "g.jsonl").read_text().replace('"vram_total_bytes":null', '"vram_total_bytes":0')
    (tmp_path / "old.jsonl").write_text(old)
    for name in ("g.jsonl", "old.jsonl"):
        assert "nearly all memory" not in run("recommend", tmp_path / name).out


AMD = {
    "dev/dri/renderD128": "",
    "sys/class/drm/renderD128/device/uevent": "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:66AF\nPCI_SLOT_NAME=0000:03:00.0\n",
    "sys/class/drm/card0/device/uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n",
}
SENSORS = {
    "gpu_busy_percent": "utilization_pct", "mem_busy_percent": "memory_utilization_pct", "mem_info_vram_used": "vram_used_bytes",
    "mem_info_vram_total": "vram_total_bytes", "hwmon/hwmon0/temp1_input": "temperature_celsius",
    "hwmon/hwmon0/power1_average": "power_watts", "hwmon/hwmon0/power1_cap": "power_limit_watts",
    "hwmon/hwmon0/freq1_input": "frequency_mhz", "hwmon/hwmon0/freq2_input": "memory_frequency_mhz",
    "hwmon/hwmon0/fan1_input": "fan_pct",
}


@pytest.mark.parametrize("number", [-70000000, -(1 << 63), (1 << 63) - 1, "x"])
def test_impossible_files_of_a_gpu_are_null(record_root, number):
    device = "sys/class/drm/renderD128/device/"
    sample, _, reasons, _ = record_root({**AMD, device + "hwmon/hwmon0/fan1_max": "3000\n",
                                         **{device + name: f"{number}\n" for name in SENSORS}}, until='"gpu":[{')
    gpu = sample["gpu"][0]
    assert {name: gpu[name] for name in SENSORS.values() if gpu[name] is not None} == {}
    assert reasons[f"gpu.fan_pct ({gpu['uuid']})"] == words_of(errno.EIO)
    assert sample["totals"]["gpu_vram_mib"] is None and sample["totals"]["gpu_usage"] is None


def test_good_files_of_a_gpu_are_read(record_root):
    device = "sys/class/drm/renderD128/device/"
    sample, _, _, _ = record_root({**AMD, device + "hwmon/hwmon0/fan1_max": "3000\n", **{device + name: "50\n" for name in SENSORS}},
                                   until='"gpu":[{')
    assert sample["gpu"][0]["fan_pct"] == 1.7 and sample["gpu"][0]["utilization_pct"] == 50


OLD_AMDGPU = """\
pos:	0
flags:	02100002
pdev:	0000:03:00.0
pasid:	32771
vram mem:	1048576 kB
gfx0:	70.59%
"""


@pytest.fixture
def record_clients(run, record_until, tmp_path):
    """record_clients(text) records the job of a machine whose descriptors of a GPU have this fdinfo; returns the last sample."""

    def record(text, target=None):
        root = tmp_path / "vega"
        shutil.copytree(ROOTS / "hand-made-gpu-vega20-5.19" / "t0", root, symlinks=True)
        for file in ("100/fdinfo/3", "100/fdinfo/4", "101/fdinfo/3", "101/fdinfo/7"):
            (root / "proc" / file).unlink()
            (root / "proc" / file).write_text(text)
            if target:
                (root / "proc" / file.replace("fdinfo", "fd")).unlink()
                (root / "proc" / file.replace("fdinfo", "fd")).symlink_to(target)
        record_until(tmp_path / "g.jsonl", '"attribution":"fdinfo"', "--root", root, "--pid", 100)
        return json_lines(tmp_path / "g.jsonl")[-1], run("summary", tmp_path / "g.jsonl").out

    return record


@pytest.mark.parametrize("text", [OLD_AMDGPU, "pos:\t0\nflags:\t02100002\n", "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"],
                         ids=["amdgpu 5.14 to 5.18", "i915 before 5.19", "no number of a client"])
@pytest.mark.parametrize("target", [None, "/dev/dri/card0"], ids=["render node", "card"])
def test_use_of_a_gpu_that_fdinfo_does_not_tell_is_null(record_clients, text, target):
    sample, summary = record_clients(text, target)
    gpu = sample["gpu"][0]
    assert gpu["process_count"] == 2 and gpu["process_vram_bytes"] is None and gpu["process_utilization_pct"] is None
    for name in ("process_gpu_vram_mib", "process_gpu_usage", "process_gpu_utilized", "process_main_gpu_vram_mib"):
        assert sample["cpu"][name] is None
    assert "the job's part is unknown" in summary


def test_a_descriptor_that_leads_elsewhere_now_does_not_count(record_clients):
    sample, summary = record_clients("pos:\t0\nflags:\t02\n", "/dev/null")
    assert sample["cpu"]["process_gpu_vram_mib"] == 0 and sample["gpu"][0]["process_count"] == 0
    assert "none by the job" in summary


@pytest.mark.parametrize("count, vram_mib", [(30, 30), (40, None)])
def test_more_descriptors_of_gpus_than_are_read_are_unknown(record_until, tmp_path, count, vram_mib):
    root = tmp_path / "vega"
    shutil.copytree(ROOTS / "hand-made-gpu-vega20-5.19" / "t0", root, symlinks=True)
    shutil.rmtree(root / "proc" / "101")
    for name in ("fd", "fdinfo"):
        shutil.rmtree(root / "proc" / "100" / name)
        (root / "proc" / "100" / name).mkdir()
    for fd in range(3, 3 + count):
        (root / "proc/100/fd" / str(fd)).symlink_to("/dev/dri/renderD128")
        (root / "proc/100/fdinfo" / str(fd)).write_text(
            f"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t{fd}\ndrm-memory-vram:\t1024 KiB\n")
    record_until(tmp_path / "g.jsonl", '"attribution":', "--root", root, "--pid", 100)
    assert json_lines(tmp_path / "g.jsonl")[-1]["cpu"]["process_gpu_vram_mib"] == vram_mib
