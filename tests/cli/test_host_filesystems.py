"""Mounts whose space is read; a mount that can hang is not asked."""
import json

DISK = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"


def mounts(run, folder, lines):
    (folder / "proc/self").mkdir(parents=True, exist_ok=True)
    (folder / "proc/self/mountinfo").write_text(DISK + "".join(lines))
    (folder / ".statvfs").write_text("/ 1000000000 400000000 300000000\n/x 7000000000 1 1\n")
    result = run("--root", folder, "-i", 0.01, "--duration", 0.05)
    assert result.returncode == 0, result.err
    samples = [json.loads(line) for line in result.out.splitlines()]
    points = [mount["mount_point"] for disk in samples[-1]["disk"] for mount in disk["mounts"]]
    return points, samples[-1]["totals"]["disk_space_total_gb"]


def test_a_disk_is_asked(run, tmp_path):
    assert mounts(run, tmp_path, ["23 22 8:17 / /x rw - xfs /dev/sdb1 rw\n"]) == (["/", "/x"], 8.0)


def test_network_and_fuse_mounts_are_not_asked_even_with_a_device(run, tmp_path):
    for kind in ("fuseblk", "fuse.sshfs", "fuse", "gpfs", "gfs2", "ocfs2", "nfs4", "cifs", "lustre", "autofs", "9p", "ceph"):
        assert mounts(run, tmp_path, [f"23 22 8:17 / /x rw - {kind} /dev/sdb1 rw\n"]) == (["/"], 1.0), kind


def test_a_hidden_mount_is_not_counted(run, tmp_path):
    below = "23 22 8:17 / /x rw - xfs /dev/sdb1 rw\n"
    assert mounts(run, tmp_path, [below, "24 23 8:33 / /x rw - ext4 /dev/sdc1 rw\n"]) == (["/", "/x"], 8.0)
    assert mounts(run, tmp_path, [below, "24 23 0:40 / /x rw - tmpfs tmpfs rw\n"]) == (["/"], 1.0)
    # A device that is mounted twice at the same place counts once.
    assert mounts(run, tmp_path, [below, "24 23 8:17 / /x rw - xfs /dev/sdb1 rw\n"]) == (["/", "/x"], 8.0)
