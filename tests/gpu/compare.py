#!/usr/bin/env python3
"""Compares the data of on-real-gpu: compare.py FOLDER MIB DUTY_PCT

Writes FOLDER/seen.md, a table of figures with the wanted value of each, and prints it. The exit status is 1 if one
does not hold.
"""
import json
import pathlib
import statistics
import sys

MIB = 1 << 20
# Driver and device need a moment at each end of a step.
MARGIN_SECS = 1.5


class Seen:
    def __init__(self):
        self.rows = []

    def add(self, name, ours, theirs, wanted, holds):
        self.rows.append((name, ours, theirs, wanted, holds))

    def text(self, head):
        lines = [*head, "", "| figure | resource-tracker | known, or nvidia-smi | wanted | |", "|---|---|---|---|---|"]
        lines += [f"| {name} | {ours} | {theirs} | {wanted} | {'holds' if holds else 'DOES NOT HOLD'} |"
                  for name, ours, theirs, wanted, holds in self.rows]
        return "\n".join(lines) + "\n"

    def all_hold(self):
        return all(row[-1] for row in self.rows)


def samples_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table_of(path):
    rows = [[cell.strip() for cell in line.split(",")] for line in path.read_text().splitlines() if line.strip()]
    # The last line may be half a line, because its writer was killed.
    return [row for row in rows if len(row) == len(rows[0])]


def number(text):
    """Returns the number that nvidia-smi prints; None for "[N/A]" and the like."""
    try:
        return float(text)
    except ValueError:
        return None


def steps_of(path):
    return {name: float(at) for name, at in (line.split() for line in path.read_text().splitlines())}


def between(samples, begin, end):
    return [one for one in samples if begin + MARGIN_SECS <= one["timestamp"] <= end - MARGIN_SECS]


def used_device(samples):
    """Returns the uuid of the job's device, and whether a sample has it; else the device whose memory has grown most."""
    for one in samples:
        for gpu in one["gpu"]:
            if gpu["process_count"]:
                return gpu["uuid"], True
    uuids = {gpu["uuid"] for one in samples for gpu in one["gpu"]}
    if not uuids:
        raise SystemExit("compare.py: no sample has a device; the tracker's own words are above")

    def growth(uuid):
        used = values(samples, uuid, "vram_used_bytes") or [0]
        return max(used) - min(used)

    return max(sorted(uuids), key=growth), False


def values(samples, uuid, key):
    found = [gpu[key] for one in samples for gpu in one["gpu"] if gpu["uuid"] == uuid]
    return [value for value in found if value is not None]


def mean(numbers):
    return statistics.fmean(numbers) if numbers else float("nan")


def compare_memory(seen, folder, samples, steps, uuid, mib):
    held = between(samples, steps["context"], steps["allocated"])
    full = between(samples, steps["allocated"], steps["done"])
    before = mean(values(held, uuid, "process_vram_bytes")) / MIB
    after = mean(values(full, uuid, "process_vram_bytes")) / MIB
    seen.add("VRAM of the job: growth by the allocation", f"{after - before:.1f} MiB", f"{mib} MiB", "within 1 %",
             abs(after - before - mib) <= 0.01 * mib)
    theirs = max((number(row[2]) or 0 for row in table_of(folder / "processes.csv") if row[0] == uuid), default=None)
    if theirs is None:
        # In most containers the driver reports no processes.
        return
    seen.add("VRAM of the job, at most", f"{max(values(full, uuid, 'process_vram_bytes'), default=0) / MIB:.1f} MiB",
             f"{theirs:.1f} MiB", "within 1 %", abs(after - theirs) <= 0.01 * theirs)


def compare_device(seen, folder, samples, steps, uuid, index, duty):
    full = between(samples, steps["allocated"], steps["done"])
    rows = [row for row in table_of(folder / "device.csv") if row[0] == str(index)]
    busiest = sorted(number(row[1]) or 0 for row in rows)[len(rows) // 2:]
    device, job = mean(values(full, uuid, "utilization_pct")), mean(values(full, uuid, "process_utilization_pct"))
    seen.add("utilisation of the device", f"{device:.1f} %", f"{duty} % (nvidia-smi: {mean(busiest):.1f} %)", "within 5 points",
             abs(device - duty) <= 5)
    seen.add("utilisation by the job", f"{job:.1f} %", f"{duty} %", "within 5 points", abs(job - duty) <= 5)
    for name, key, column, unit, scale, wanted in (
            ("memory of the device, at most", "vram_used_bytes", 2, "MiB", MIB, 0.01), ("power, mean", "power_watts", 3, "W", 1, 0.15),
            ("temperature, mean", "temperature_celsius", 4, "degC", 1, 0.1), ("clock, at most", "frequency_mhz", 5, "MHz", 1, 0.05)):
        theirs = [value for value in (number(row[column]) for row in rows) if value is not None]
        ours = [value / scale for value in values(samples, uuid, key)]
        if not theirs or not ours:
            seen.add(name, "null" if not ours else "known", "null" if not theirs else "known", "both or neither",
                     bool(theirs) == bool(ours))
            continue
        ours, theirs = (max(ours), max(theirs)) if "most" in name else (mean(ours), mean(theirs))
        seen.add(name, f"{ours:.1f} {unit}", f"{theirs:.1f} {unit}", f"within {wanted:.0%}", abs(ours - theirs) <= wanted * theirs)


def compare_energy(seen, samples, uuid):
    pairs = [(gpu["energy_joules"], gpu["power_watts"], one["actual_interval_ms"] / 1e3) for one in samples for gpu in one["gpu"]
             if gpu["uuid"] == uuid and gpu["energy_joules"] is not None and gpu["power_watts"] is not None]
    if not pairs:
        return
    counted, added = sum(pair[0] for pair in pairs), sum(pair[1] * pair[2] for pair in pairs)
    seen.add("energy", f"{counted:.0f} J", f"{added:.0f} J (power added up)", "within 15 %", abs(counted - added) <= 0.15 * added)


def compare_conduct(seen, folder, samples, uuid):
    first = next((i for i, one in enumerate(samples) if any(gpu["utilization_pct"] is not None for gpu in one["gpu"])), None)
    seen.add("the first sample with values", "none" if first is None else f"number {first}, after "
             f"{samples[first]['elapsed_secs']:.2f} s", "-", "there is one", first is not None)
    seen.add("samples that came late", samples[-1]["missed_ticks"], 0, "none", samples[-1]["missed_ticks"] == 0)
    names = {row[3].rsplit("/", 1)[-1] for row in table_of(folder / "processes.csv")}
    seen.add("CUDA contexts", " ".join(sorted(names)) or "none listed", "cuda_load", "none of the tracker's",
             not any("rt-helper" in name or "resource-tracker" in name for name in names))
    before = [row[5] for row in table_of(folder / "devices.csv")]
    after = [row[0] for row in table_of(folder / "persistence-after")]
    seen.add("persistence mode", " ".join(after), " ".join(before), "unchanged", before == after)
    idle = samples_of(folder / "idle.jsonl")
    known = values(idle, uuid, "utilization_pct")
    seen.add("utilisation of an idle device", f"{mean(known):.1f} %", "-", "known, below 5 %", bool(known) and mean(known) < 5)


def compare_namespace(seen, folder, mib):
    samples = samples_of(folder / "namespace.jsonl")
    if not samples:
        return
    rows = [gpu for one in samples for gpu in one["gpu"]]
    methods = sorted({gpu["attribution"] for gpu in rows if gpu["attribution"]})
    known = [one["cpu"]["process_gpu_vram_mib"] for one in samples if one["cpu"]["process_gpu_vram_mib"] is not None]
    # Null is correct; a zero, or the memory of others, is not.
    seen.add("in a process namespace", f"attribution {'+'.join(methods)}, VRAM at most {max(known, default=None)} MiB", f"{mib} MiB",
             "that and a context, or null", not known or max(known) >= mib)


def main():
    folder, mib, duty = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    samples, steps = samples_of(folder / "record.jsonl"), steps_of(folder / "steps")
    (uuid, told), seen = used_device(samples), Seen()
    if not told:
        seen.add("the device that the job was on", "not told", uuid, "told", False)
    device = next(gpu for one in reversed(samples) for gpu in one["gpu"] if gpu["uuid"] == uuid)
    compare_memory(seen, folder, samples, steps, uuid, mib)
    compare_device(seen, folder, samples, steps, uuid, device["index"], duty)
    compare_energy(seen, samples, uuid)
    compare_conduct(seen, folder, samples, uuid)
    compare_namespace(seen, folder, mib)
    methods = sorted({str(gpu["attribution"]) for one in samples for gpu in one["gpu"] if gpu["uuid"] == uuid})
    details = device.get("detail") or {}
    devices = table_of(folder / "devices.csv")
    head = [f"### {device['name']}, driver {details.get('driver_version')}", "",
            f"{len(devices)} device(s); CUDA {details.get('cuda_version')}; compute capability "
            f"{details.get('compute_capability')}; {(folder / 'kernel').read_text().strip()}; "
            f"attribution: {'+'.join(methods)}; keys that are null: "
            + (", ".join(sorted(key for key, value in device.items() if value is None)) or "none") + "."]
    text = seen.text(head)
    (folder / "seen.md").write_text(text)
    print(text, end="")
    return 0 if seen.all_hold() else 1


if __name__ == "__main__":
    sys.exit(main())
