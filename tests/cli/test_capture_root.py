"""tools/capture-root copies enough for the program, and nothing that must not leave a machine."""
import os
import shutil
import subprocess

SECRETS = {
    "serial number": ("sys/devices/pci0000:00/ata1/block/sda/device/serial", "S3CR3TSERIAL"),
    "world-wide id": ("sys/devices/pci0000:00/ata1/block/sda/wwid", "naa.5000c500a1b2c3d4"),
    "hardware address": ("sys/devices/pci0000:00/net/eth0/address", "52:54:00:ab:cd:ef"),
    "host name": ("proc/sys/kernel/hostname", "payroll-server-7"),
    "machine id": ("etc/machine-id", "4f8a1b2c3d4e5f60718293a4b5c6d7e8"),
    "boot id": ("proc/sys/kernel/random/boot_id", "a1b2c3d4-0000-4000-8000-123456789abc"),
    "asset tag": ("sys/class/dmi/id/board_asset_tag", "i-0feedfacecafebeef"),
    "board serial": ("sys/class/dmi/id/board_serial", "PF1BOARD99"),
    "uuid of a volume": ("sys/devices/virtual/block/dm-0/dm/name", "luks-9f8e7d6c-5b4a-4938-8271-605f4e3d2c1b"),
    "command line": ("proc/100/cmdline", "--password=hunter2"),
    "environment": ("proc/100/environ", "TOKEN=abcdef"),
}
MOUNTS = ("22 1 8:1 / / rw - ext4 /dev/disk/by-uuid/12345678-1234-4234-8234-123456789abc rw\n"
          "23 22 0:50 / /mnt rw - nfs4 fileserver.corp.example:/export rw,addr=192.0.2.77,clientaddr=192.0.2.78\n"
          "24 22 0:51 / /win rw - cifs //winserver/share rw,username=alice,domain=CORP\n")
HIDDEN_IN_MOUNTS = ["12345678-1234-4234", "fileserver", "192.0.2", "winserver", "alice", "CORP"]


def capture(helpers, source, out, *arguments):
    done = subprocess.run([helpers.top / "tools" / "capture-root", "--from", source, *arguments, out],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")


def all_text(folder):
    return "".join(path.read_text(errors="replace") for path in sorted(folder.rglob("*"))
                   if path.is_file() and not path.is_symlink())


def make_machine(folder):
    for path, text in SECRETS.values():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text + "\n")
    (folder / "proc/self").mkdir()
    (folder / "proc/self/mountinfo").write_text(MOUNTS)
    (folder / "proc/net").mkdir()
    (folder / "proc/net/route").write_text("Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                                           "eth0\t00000000\t4D0200C0\t0003\t0\t0\t0\t00000000\n")
    (folder / "proc/100/stat").write_text("100 (job) S 1 " + "0 " * 40 + "\n")
    for name, target in (("block/sda", "pci0000:00/ata1/block/sda"), ("block/dm-0", "virtual/block/dm-0"),
                         ("net/eth0", "pci0000:00/net/eth0")):
        (folder / "sys/class" / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(f"../../devices/{target}", folder / "sys/class" / name)


def test_secrets_stay_on_the_machine(helpers, tmp_path):
    machine, out = tmp_path / "machine", tmp_path / "out"
    make_machine(machine)
    capture(helpers, machine, out, "--pid", "100")
    text = all_text(out)
    for what, (_, secret) in SECRETS.items():
        assert secret.split("-", 1)[-1] not in text, what
    for secret in HIDDEN_IN_MOUNTS + ["4D0200C0"]:
        assert secret not in text, secret
    assert (out / "proc/100/stat").exists()
    assert "SERIAL-sda" in text and "server:/export" in text


def test_a_tree_captured_from_a_tree_is_the_same(helpers, tmp_path):
    source, out = helpers.roots / "hand-made-hypervisor-5.15" / "t0", tmp_path / "out"
    capture(helpers, source, out, "--pid", "100")
    for name in ("proc/stat", "proc/net/dev", "proc/diskstats", "proc/101/stat", "proc/102/task/105/children",
                 "sys/class/net/bond0.100/mtu", "sys/class/block/vda1/partition", "proc/103/smaps_rollup"):
        assert (out / name).read_bytes() == (source / name).read_bytes(), name
    assert os.readlink(out / "sys/class/net/eth0/master") == os.readlink(source / "sys/class/net/eth0/master")
    assert not (out / "proc/50").exists(), "a process outside the tree"


def test_the_live_machine_gives_a_usable_tree(helpers, run, tmp_path):
    out = tmp_path / "out"
    capture(helpers, "/", out, "--pid", str(os.getpid()))
    assert (out / f"proc/{os.getpid()}/stat").exists()
    result = run("--root", out, "--pid", str(os.getpid()), "-i", "0.05", "--duration", "0.12", "-f", "json")
    assert result.returncode == 0
    samples = helpers.json_lines(result.stdout)
    assert samples and samples[-1]["memory"]["total_mib"] > 0


def test_processes_that_were_left_out_are_not_counted_as_none(helpers, run, tmp_path):
    tree = tmp_path / "tree"
    (tree / "proc").mkdir(parents=True)
    (tree / "proc/stat").write_text("cpu  10 0 10 100 0 0 0 0 0 0\n")
    # At this interval, some samples repeat an earlier count.
    result = run("--root", tree, "-i", "0.001", "--duration", "0.05", "--why")
    assert {sample["cpu"]["process_count"] for sample in helpers.json_lines(result.stdout)} == {None}
    assert "null: cpu.process_count: not measured here" in result.err


def test_usage_errors_write_nothing(helpers, tmp_path):
    for arguments in ([], ["--pid"], ["--nothing", "x"], ["a", "b"]):
        done = subprocess.run([helpers.top / "tools" / "capture-root", *arguments], cwd=tmp_path,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 125 and "capture-root" in done.stderr
    assert not any(tmp_path.iterdir())


def test_where_no_filesystem_can_be_asked_the_space_is_unknown(helpers, run, tmp_path):
    """As in a chroot whose mounts are not listed."""
    tree = tmp_path / "tree"
    shutil.copytree(helpers.roots / "hand-made-cgroup2-6.6" / "t0", tree, symlinks=True)
    (tree / "proc/self/mountinfo").write_text("")
    result = run("--root", tree, "-i", "0.05", "--duration", "0.12", "--why")
    samples = helpers.json_lines(result.stdout)
    assert samples
    for name in ("total", "used", "free"):
        assert samples[-1]["totals"][f"disk_space_{name}_gb"] is None
    assert b"disk_space_total_gb" in result.stderr
