"""Disks that appear, disappear, or get replaced under the same name during a recording."""
import shutil

import pytest

SDA = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"


@pytest.fixture
def machine(spawn, tmp_path, helpers):
    """A recorder of a fixture machine, whose files the test may change."""
    class Machine:
        root = tmp_path / "root"
        record = tmp_path / "record.jsonl"

        def disks(self):
            """Returns the disks of the sample after the next, because the next may have begun already."""
            before = self.record.read_bytes().count(b"\n") if self.record.exists() else 0
            helpers.wait_until(lambda: self.record.exists() and self.record.read_bytes().count(b"\n") >= before + 2)
            whole = self.record.read_bytes().rpartition(b"\n")[0] + b"\n"
            sample = helpers.json_lines(whole)[-1]
            return {disk["device"]: disk for disk in sample["disk"]}

        def change_diskstats(self, change):
            """Writes the file in place and at once, because a file of /proc stays open."""
            path = self.root / "proc" / "diskstats"
            text = "".join(filter(None, map(change, path.read_text().splitlines(keepends=True))))
            # Pad to the old length with blank lines: the recorder might read a truncated file before it is written
            # again.
            path.open("r+").write(text.ljust(path.stat().st_size, "\n"))

    shutil.copytree(helpers.roots / "hand-made-workstation-6.1" / "t0", Machine.root, symlinks=True)
    tracker = spawn("--root", Machine.root, "-i", 0.05, "-o", Machine.record, "--no-summary")
    yield Machine()
    tracker.send_signal(2)
    assert tracker.wait() == 0


def test_another_disk_under_the_same_name(machine):
    before = machine.disks()["sda"]
    (machine.root / SDA / "device" / "model").write_text("Another one\n")
    assert machine.disks()["sda"]["model"] == before["model"] != "Another one"
    machine.change_diskstats(lambda line: line.replace("   8       0 sda ", "  65     160 sda "))
    after = machine.disks()["sda"]
    assert after["model"] == "Another one"
    assert after["device_type"] == before["device_type"] and after["capacity_bytes"] == before["capacity_bytes"]


def test_a_disk_that_goes_and_comes_back(machine):
    before = machine.disks()
    lines = (machine.root / "proc" / "diskstats").read_text()
    machine.change_diskstats(lambda line: None if " sda" in line else line)
    assert machine.disks().keys() == before.keys() - {"sda"}
    shutil.rmtree(machine.root / SDA / "device")
    (machine.root / "proc" / "diskstats").open("r+").write(lines)
    back = machine.disks()["sda"]
    assert back["model"] is None and back["read_bytes_total"] == before["sda"]["read_bytes_total"]


def test_a_disk_that_is_renamed(machine):
    before = machine.disks()
    link = machine.root / "sys/class/block/sda"
    link.rename(link.with_name("sdz"))
    machine.change_diskstats(lambda line: line.replace(" sda ", " sdz "))
    after = machine.disks()
    assert after.keys() == before.keys() - {"sda"} | {"sdz"}
    assert after["sdz"]["capacity_bytes"] == before["sda"]["capacity_bytes"]
