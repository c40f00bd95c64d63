#!/usr/bin/env python3
"""Twelve known loads under resource-tracker: loads.py OUT BUILD [LOAD...]; loads.py --compare OUT BUILD; loads.py --keep OUT TO LOAD...

Each load counts what it does itself (operations, bytes, memory), and a second meter, pynvml, samples the device beside it. OUT/loads.md is
the table of both against the recording, with the cost of each call of NVML. A load that cannot run here (no PyTorch, no MPS) has a line that
says why. Figures of the summary need a build with resource-tracker-analysis: --compare judges recordings of a machine without jansson
elsewhere. --keep makes a fixture of recordings, as in tests/gpu/seen-h100. The exit status is 1 if a figure does not hold. No setting of the device is changed, so the power limit is none of the loads.
"""
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
SECS = float(os.environ.get("GPU_LOAD_SECS", 6))
# The driver's counters lag, and the first samples have the warm-up.
MARGIN_SECS = 1.2
GPM = {"sm_active_pct": 2, "sm_occupancy_pct": 3, "tensor_active_pct": 5, "dram_active_pct": 10, "fp64_active_pct": 11, "fp32_active_pct": 12,
       "fp16_active_pct": 13, "pcie_tx_bytes_per_sec": 20, "pcie_rx_bytes_per_sec": 21}
# Operations of a multiprocessor in a cycle, from NVIDIA's papers on each architecture: by compute capability.
PER_CYCLE = {"9.0": {"tensor": 4096, "fp32": 256, "fp64": 256}, "8.0": {"tensor": 2048, "fp32": 128, "fp64": 128}}


# ---- the second meter


class Meter(threading.Thread):
    """Samples the first device by pynvml, where it is installed. Its lines: {"timestamp", figures of GPM, ...}."""
    def __init__(self):
        super().__init__(daemon=True)
        self.lines, self.over = [], threading.Event()
        try:
            import pynvml
            pynvml.nvmlInit()
            self.nvml, self.device = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
            self.gpm = [pynvml.nvmlGpmSampleAlloc() for _ in range(2)]
            pynvml.nvmlGpmSampleGet(self.device, self.gpm[1])
        except Exception as error:
            self.nvml, self.refusal = None, f"no second meter: {error}"

    def sample(self):
        n = self.nvml
        self.gpm.reverse()
        n.nvmlGpmSampleGet(self.device, self.gpm[1])
        wanted = n.c_nvmlGpmMetricsGet_t()
        wanted.version, wanted.numMetrics = n.NVML_GPM_METRICS_GET_VERSION, len(GPM)
        wanted.sample1, wanted.sample2 = self.gpm
        for i, number in enumerate(GPM.values()):
            wanted.metrics[i].metricId = number
        n.nvmlGpmMetricsGet(wanted)
        found = {key: wanted.metrics[i].value * (MIB if "bytes" in key else 1) for i, key in enumerate(GPM)}
        found["frequency_mhz"] = n.nvmlDeviceGetClockInfo(self.device, n.NVML_CLOCK_SM)
        found["power_watts"] = n.nvmlDeviceGetPowerUsage(self.device) / 1000
        found["vram_used_bytes"] = n.nvmlDeviceGetMemoryInfo(self.device, n.nvmlMemory_v2).used
        self.lines.append({"timestamp": time.time(), **found})

    def run(self):
        while self.nvml and not self.over.wait(0.5):
            self.sample()

    def end(self):
        self.over.set()
        self.join()
        return self.lines


def call_costs():
    """Returns rows of (call, wall microseconds at least, in the median and at most, CPU microseconds) of what a pass of the helper asks."""
    meter = Meter()
    if not meter.nvml:
        return []
    n, device = meter.nvml, meter.device
    calls = {
        "memory": lambda: n.nvmlDeviceGetMemoryInfo(device, n.nvmlMemory_v2), "utilization": lambda: n.nvmlDeviceGetUtilizationRates(device),
        "encoder": lambda: n.nvmlDeviceGetEncoderUtilization(device), "decoder": lambda: n.nvmlDeviceGetDecoderUtilization(device),
        "power": lambda: n.nvmlDeviceGetPowerUsage(device), "power limit": lambda: n.nvmlDeviceGetEnforcedPowerLimit(device),
        "energy": lambda: n.nvmlDeviceGetTotalEnergyConsumption(device), "temperature": lambda: n.nvmlDeviceGetTemperature(device, 0),
        "core clock": lambda: n.nvmlDeviceGetClockInfo(device, 0), "memory clock": lambda: n.nvmlDeviceGetClockInfo(device, 2),
        "highest clock": lambda: n.nvmlDeviceGetMaxClockInfo(device, 0), "P-state": lambda: n.nvmlDeviceGetPerformanceState(device),
        "reasons of lower clocks": lambda: n.nvmlDeviceGetCurrentClocksThrottleReasons(device), "fan": lambda: n.nvmlDeviceGetFanSpeed(device),
        "ECC, corrected": lambda: n.nvmlDeviceGetTotalEccErrors(device, 0, 0), "ECC, not corrected": lambda: n.nvmlDeviceGetTotalEccErrors(device, 1, 0),
        "remapped rows": lambda: n.nvmlDeviceGetRemappedRows(device), "PCIe generation": lambda: n.nvmlDeviceGetCurrPcieLinkGeneration(device),
        "PCIe lanes": lambda: n.nvmlDeviceGetCurrPcieLinkWidth(device), "PCIe throughput": lambda: n.nvmlDeviceGetPcieThroughput(device, 0),
        "NVLink fields": lambda: n.nvmlDeviceGetFieldValues(device, [138, 139]), "GPM sample": lambda: n.nvmlGpmSampleGet(device, meter.gpm[0]),
        "GPM metrics": meter.sample, "compute processes": lambda: n.nvmlDeviceGetComputeRunningProcesses(device),
        "graphics processes": lambda: n.nvmlDeviceGetGraphicsRunningProcesses(device),
        "MPS processes": lambda: n.nvmlDeviceGetMPSComputeRunningProcesses(device),
        "process utilization": lambda: n.nvmlDeviceGetProcessUtilization(device, 0), "samples of utilization": lambda: n.nvmlDeviceGetSamples(device, 1, 0),
        "device count": n.nvmlDeviceGetCount, "MIG mode": lambda: n.nvmlDeviceGetMigMode(device),
    }
    rows = []
    for name, call in calls.items():
        walls, answer, cpu = [], "", time.process_time()
        for _ in range(20):
            begun = time.perf_counter()
            try:
                call()
            except Exception as error:
                answer = str(error)
            walls.append(1e6 * (time.perf_counter() - begun))
        cpu = 1e6 * (time.process_time() - cpu) / len(walls)
        rows.append((name, min(walls), statistics.median(walls), max(walls), cpu, answer))
    return rows


# ---- running


def torch_command(name):
    return [sys.executable, str(HERE / "torch_load.py"), name, str(SECS)]


def two_processes(out):
    return ["sh", "-c", f"'{out}/cuda_load' 1024 30 {SECS:.0f} & '{out}/cuda_load' 2048 30 {SECS:.0f}; wait"]


LOADS = {name: (lambda out, name=name: torch_command(name)) for name in (
    "tensor", "fp32", "fp64", "to_device", "to_host", "device_copy", "held", "starved", "too_much")}
LOADS |= {"two_processes": two_processes, "mps": two_processes, "never_used": lambda out: ["sleep", str(SECS)]}


def refusal(name):
    """Returns why a load cannot run here, or None."""
    if LOADS[name](".")[0] == sys.executable:
        asked = subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True, text=True)
        return "no PyTorch with CUDA" if asked.returncode else None
    if name == "mps" and not any(os.access(f"{folder}/nvidia-cuda-mps-control", os.X_OK) for folder in os.environ["PATH"].split(":")):
        return "no nvidia-cuda-mps-control"
    return None


class Mps:
    """A daemon of MPS with folders of its own, for the time of a load."""
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mps-")
        self.environment = {**os.environ, "CUDA_MPS_PIPE_DIRECTORY": self.folder, "CUDA_MPS_LOG_DIRECTORY": self.folder}
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=self.environment, check=True, timeout=20)

    def end(self):
        subprocess.run(["nvidia-cuda-mps-control"], env=self.environment, input="quit\n", text=True, timeout=30)


def run_load(name, out, build):
    recording = out / f"{name}.jsonl"
    mps = Mps() if name == "mps" else None
    meter = Meter()
    meter.start()
    try:
        done = subprocess.run([build / "resource-tracker", "-i", "0.5", "--gpus", "all", "--no-summary", "-o", recording, "--", *LOADS[name](out)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=mps.environment if mps else None)
    finally:
        lines = meter.end()
        if mps:
            mps.end()
    (out / f"{name}.said").write_text(done.stdout)
    (out / f"{name}.err").write_text(done.stderr)
    (out / f"{name}.nvml").write_text("".join(json.dumps(line) + "\n" for line in lines))


# ---- keeping

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The machine's name, its disks and interfaces say nothing of a GPU.
LEFT_OUT = {"host", "folder", "kernel", "network", "disk", "numa", "cloud", "per_core_pct"}


def without_machine(value):
    """Returns a value of a recording without nulls and what names the machine."""
    if isinstance(value, list):
        return [without_machine(one) for one in value]
    if isinstance(value, dict):
        return {key: without_machine(one) for key, one in value.items() if one is not None and key not in LEFT_OUT}
    return value


def keep(out, to, names):
    to.mkdir(exist_ok=True)
    for path in (out / f"{name}.{suffix}" for name in names for suffix in ("jsonl", "said", "nvml")):
        lines = path.read_text().splitlines()
        if path.suffix != ".said":
            lines = [json.dumps(without_machine(json.loads(line)), separators=(",", ":")) for line in lines]
        text = UUID.sub("00000000-0000-0000-0000-000000000000", "".join(line + "\n" for line in lines))
        (to / f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


# ---- comparing


class NoSummary(Exception):
    """This build has no analysis."""


class Load:
    """The files of one load."""
    def __init__(self, folder, build, name):
        def lines(suffix):
            path = folder / f"{name}.{suffix}"
            return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")] if path.exists() else []
        self.name = name
        self.all = lines("jsonl")
        self.said = (lines("said") or [{}])[-1]
        self.summarise = [build / "resource-tracker", "summary", "--json", folder / f"{name}.jsonl"]
        self.ours = [one for one in self.all if self.has(one["timestamp"])]
        self.theirs = [one for one in lines("nvml") if self.has(one["timestamp"])]

    def summary(self):
        done = subprocess.run(self.summarise, capture_output=True, text=True)
        if done.returncode:
            raise NoSummary
        return json.loads(done.stdout)

    def has(self, timestamp):
        return not self.said or self.said["begin"] + MARGIN_SECS <= timestamp <= self.said["end"] - MARGIN_SECS / 2

    def device(self, sample):
        return max(sample["gpu"], key=lambda gpu: gpu.get("process_vram_bytes") or 0) if sample["gpu"] else {}

    def mean(self, key):
        known = [self.device(one).get(key) for one in self.ours]
        known = [value for value in known if value is not None]
        return statistics.fmean(known) if known else float("nan")

    def most(self, key):
        return max((self.device(one).get(key) or 0 for one in self.all), default=0)

    def meter(self, key):
        return statistics.fmean(one[key] for one in self.theirs) if self.theirs else float("nan")

    def identity(self):
        return self.device(self.all[-1])


class Table:
    def __init__(self):
        self.rows, self.holds = [], True

    def add(self, load, figure, ours, wanted, holds, theirs="-"):
        self.rows.append(f"| {load.name} | {figure} | {ours} | {theirs} | {wanted} | {'holds' if holds else 'DOES NOT HOLD'} |")
        self.holds &= bool(holds)

    def near(self, load, key, known, limit, unit="%", scale=1.0):
        """Ours against what the load's own counts say, and the other meter beside it."""
        ours, theirs = load.mean(key) / scale, load.meter(key) / scale
        self.add(load, key, f"{ours:.1f} {unit}", f"{known:.1f} {unit} by its own count, within {limit:.1f}",
                 abs(ours - known) <= limit, "-" if theirs != theirs else f"{theirs:.1f} {unit}")

    def alike(self, load, key, limit):
        ours, theirs = load.mean(key), load.meter(key)
        if theirs == theirs:
            self.add(load, key, f"{ours:.1f}", f"the other meter, within {limit:g}", abs(ours - theirs) <= limit, f"{theirs:.1f}")

    def least(self, load, key, least, most=float("inf")):
        ours, theirs = load.mean(key), load.meter(key) if load.theirs and key in load.theirs[0] else float("nan")
        self.add(load, key, f"{ours:.1f} %", f"{least:g} % or more" if most == float("inf") else f"{least:g} to {most:g} %",
                 least <= ours <= most, "-" if theirs != theirs else f"{theirs:.1f} %")


def peak_share(load, kind):
    """Returns the part of the device's peak that the load's operations were, in percent, at the clock that it had. None: unknown device."""
    gpu = load.identity()
    of = PER_CYCLE.get(gpu["detail"].get("compute_capability"))
    clock = load.mean("frequency_mhz") * 1e6
    lanes = 128 if of and of["fp32"] == 256 else 64
    return 100 * load.said["flops"] / (of[kind] * gpu["core_count"] / lanes * clock) if of else None


def compare_matrices(table, load, key, kind):
    share = peak_share(load, kind)
    table.least(load, "process_utilization_pct", 90)
    table.least(load, "sm_active_pct", 80, 100)
    if share is not None:
        table.near(load, key, share, 15)
    for one in ("sm_occupancy_pct", "tensor_active_pct", "dram_active_pct", "fp32_active_pct", "fp64_active_pct"):
        if one != key:
            table.alike(load, one, 5)


def compare_copies(table, load, key):
    known = load.said["bytes"] / 1e9
    table.near(load, key, known, 0.15 * known, "GB/s", 1e9)
    table.least(load, "tensor_active_pct", 0, 1)


def compare_device_copy(table, load):
    table.least(load, "dram_active_pct", 40, 100)
    table.alike(load, "sm_occupancy_pct", 5)


def compare_held(table, load):
    known = load.said["mib"]
    ours = load.most("process_vram_bytes") / MIB
    table.add(load, "process_vram_bytes, at most", f"{ours:.0f} MiB", f"{known:.0f} MiB and a context (at most 1,024)", known <= ours <= known + 1024)
    table.least(load, "process_utilization_pct", 0, 1)
    gpu = load.summary()["gpus"][0]
    table.add(load, "summary: held without work", f"{gpu['held_idle_secs']:.1f} s", f"{SECS - 1} s or more", gpu["held_idle_secs"] >= SECS - 1)


def compare_two(table, load):
    rows = [[row for row in load.device(one).get("processes", []) if row["vram_bytes"]] for one in load.all]
    most = max(rows, key=len, default=[])
    sizes = [max((row["vram_bytes"] for rows_of in rows for row in rows_of if row["pid"] == pid), default=0) / MIB for pid in {row["pid"] for row in most}]
    table.add(load, "processes at once", len(most), 2, len(most) == 2)
    table.add(load, "memory of each", " and ".join(f"{size:.0f} MiB" for size in sorted(sizes)), "1,024 and 2,048 MiB and a context each",
              len(sizes) == 2 and 1024 <= min(sizes) <= 2048 <= max(sizes) <= 3584)
    total = load.most("process_vram_bytes") / MIB
    table.add(load, "process_vram_bytes, at most", f"{total:.0f} MiB", f"their sum ({sum(sizes):.0f} MiB)", abs(total - sum(sizes)) <= 0.05 * total)


def compare_mps(table, load):
    """The driver counts all work as the server's. All clients are the job's, so the device's use is its own."""
    compare_two(table, load)
    rows = [load.device(one) for one in load.all if load.device(one).get("utilization_pct")]
    ours, device = (statistics.fmean(row.get(key) or 0 for row in rows) if rows else 0 for key in ("process_utilization_pct", "utilization_pct"))
    table.add(load, "process_utilization_pct", f"{ours:.1f} %", f"{device:.1f} %, that of the device", rows and abs(ours - device) <= 1)


def compare_starved(table, load):
    found = {one["rule"]: one["text"] for one in load.summary()["bottlenecks"]}
    table.add(load, "bottleneck", found.get("gpu_starved", ", ".join(found)), "gpu_starved, by 2 DataLoader workers",
              "2 DataLoader workers" in found.get("gpu_starved", ""))


def compare_too_much(table, load):
    ours, known, share = load.most("process_vram_bytes") / MIB, load.said["mib"], load.most("vram_used_pct")
    table.add(load, "process_vram_bytes, at most", f"{ours:.0f} MiB", f"{known:.0f} MiB and a context (at most 1,024)", known <= ours <= known + 1024)
    table.add(load, "vram_used_pct, at most", f"{share:.1f} %", "95 % or more", share >= 95)
    table.add(load, "exit status", load.summary()["end"]["exit_code"], 1, load.summary()["end"]["exit_code"] == 1)


def compare_never_used(table, load):
    table.add(load, "summary: used by the job", [gpu["used_by_job"] for gpu in load.summary()["gpus"]], "none",
              not any(gpu["used_by_job"] for gpu in load.summary()["gpus"]))
    table.add(load, "summary: idle hours", load.summary()["gpu"]["idle_hours"], "all of the time", (load.summary()["gpu"]["idle_hours"] or 0) > 0)


COMPARED = {
    "tensor": lambda table, load: compare_matrices(table, load, "tensor_active_pct", "tensor"),
    "fp32": lambda table, load: compare_matrices(table, load, "fp32_active_pct", "fp32"),
    # From Hopper on, matrices of doubles are products of tensor cores.
    "fp64": lambda table, load: compare_matrices(table, load, "tensor_active_pct", "fp64"),
    "to_device": lambda table, load: compare_copies(table, load, "pcie_rx_bytes_per_sec"),
    "to_host": lambda table, load: compare_copies(table, load, "pcie_tx_bytes_per_sec"),
    "device_copy": compare_device_copy, "held": compare_held, "two_processes": compare_two, "mps": compare_mps, "starved": compare_starved,
    "too_much": compare_too_much, "never_used": compare_never_used,
}


def compare(folder, build):
    table, costs = Table(), []
    for name in COMPARED:
        if (folder / f"{name}.refused").exists():
            table.rows.append(f"| {name} | - | not run: {(folder / f'{name}.refused').read_text()} | - | - | - |")
        elif (folder / f"{name}.jsonl").exists():
            load = Load(folder, build, name)
            try:
                COMPARED[name](table, load)
            except NoSummary:
                table.rows.append(f"| {name} | summary | - | not known: this build has no resource-tracker-analysis | - | - |")
            except (KeyError, IndexError, TypeError) as error:
                table.add(load, "its record", f"{type(error).__name__}: {error}", "complete", False)
            costs += [one["tracker"]["cpu_secs"] * 1e3 for one in load.all[1:-1]]
    lines = ["| load | figure | resource-tracker | pynvml | wanted | |", "|---|---|---|---|---|---|", *table.rows, ""]
    if costs:
        lines += [f"Recorder and helper took {statistics.median(costs):.1f} ms of CPU time a sample in the median, {max(costs):.1f} ms at most.", ""]
    return "\n".join(lines), table.holds


def costs_text():
    rows = [f"| {name} | {least:.0f} | {wall:.0f} | {most:.0f} | {cpu:.0f} | {answer} |" for name, least, wall, most, cpu, answer in call_costs()]
    return "\n".join(["| call of NVML | wall, at least (us) | median | at most | CPU (us) | |", "|---|---|---|---|---|---|", *rows, ""]) if rows else ""


def main():
    if sys.argv[1] == "--keep":
        keep(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:])
        return 0
    if sys.argv[1] == "--compare":
        text, holds = compare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        print(text, end="")
        return 0 if holds else 1
    out, build, chosen = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:] or list(LOADS)
    for name in chosen:
        why = refusal(name)
        if why:
            (out / f"{name}.refused").write_text(why)
            continue
        print(f"loads: {name}", file=sys.stderr, flush=True)
        run_load(name, out, build)
    text, holds = compare(out, build)
    text += "\n" + (costs_text() or f"There is {Meter().refusal}.\n")
    (out / "loads.md").write_text(text)
    print(text, end="")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
