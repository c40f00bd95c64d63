"""A made-up host for figures that must not depend on the machine: 8 CPUs, one disk, one network interface."""
import pathlib

FILES = {
    "proc/stat": "cpu  8423901 1203 912833 98234411 120332 0 88121 0 0 0\n"
                 + "".join(f"cpu{i} 1052987 150 114104 12279301 15041 0 11015 0 0 0\n" for i in range(8))
                 + "intr 998123412 0 0\nctxt 5123412341\nbtime 1790000000\nprocesses 8123412\nprocs_running 3\n"
                   "procs_blocked 1\nsoftirq 1 2 3 4 5 6 7 8 9 10 11\n",
    "proc/meminfo": "MemTotal:       65843212 kB\nMemFree:        12345678 kB\nMemAvailable:   45678912 kB\n"
                    "Buffers:          812344 kB\nCached:         29123456 kB\nActive:         31234567 kB\n"
                    "Inactive:       15123456 kB\nSwapTotal:       8388604 kB\nSwapFree:        8123456 kB\n"
                    "Shmem:           1234567 kB\nSReclaimable:    2345678 kB\n",
    "proc/loadavg": "3.12 2.80 2.41 3/1234 567890\n",
    "proc/uptime": "1234567.89 9876543.21\n",
    "proc/diskstats": " 259       0 nvme0n1 8123412 123412 912341234 8123412 12341234 8123412 1234123412 98123412 0 "
                      "8123412 106246824 0 0 0 0 0 0\n"
                      " 259       1 nvme0n1p1 8123400 123412 912341200 8123400 12341230 8123412 1234123400 98123400 0 "
                      "8123400 106246800 0 0 0 0 0 0\n",
    "proc/net/dev": "Inter-|   Receive                                                |  Transmit\n"
                    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
                    "colls carrier compressed\n"
                    "    lo: 812341234 8123412    0    0    0     0          0         0 812341234 8123412    0    0 "
                    "   0     0       0          0\n"
                    "enp3s0: 98123412341 81234123    0   12    0     0          0    123456 12341234123 41234123    0 "
                    "   0    0     0       0          0\n",
    "proc/cpuinfo": "".join(
        f"processor\t: {i}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) E-2378 CPU @ 2.60GHz\n"
        f"cpu MHz\t\t: 2600.000\nphysical id\t: 0\ncore id\t\t: {i}\ncpu cores\t: 8\n\n" for i in range(8)),
    "proc/version": "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)\n",
    "proc/self/mountinfo": "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n",
    "proc/mounts": "/dev/nvme0n1p1 / ext4 rw,relatime 0 0\n",
    "proc/sys/kernel/hostname": "build-host-17\n",
    "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "sys/devices/system/cpu/online": "0-7\n",
    "sys/block/nvme0n1/size": "2000409264\n",
    "sys/block/nvme0n1/queue/rotational": "0\n",
    "sys/block/nvme0n1/device/model": "SAMSUNG MZVL21T0HCLR-00B00\n",
    "sys/block/nvme0n1/device/serial": "S676NX0R123456\n",
    "sys/block/nvme0n1/nvme0n1p1/partition": "1\n",
    "sys/class/net/enp3s0/address": "00:1b:21:3c:4d:5e\n",
    "sys/class/net/enp3s0/mtu": "1500\n",
    "sys/class/net/enp3s0/operstate": "up\n",
    "sys/class/net/enp3s0/speed": "10000\n",
    "sys/class/net/enp3s0/device/vendor": "0x8086\n",
    "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n',
    ".root": "clock_ticks 100\npage_bytes 4096\n",
}


def write_root(folder):
    """Writes the tree for `--root` into a folder."""
    for path, text in FILES.items():
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
