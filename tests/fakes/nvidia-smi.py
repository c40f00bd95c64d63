#!/usr/bin/env python3
"""The part of nvidia-smi that tests/gpu/on-real-gpu uses: one device, with memory and process from the fake NVML's
script.
"""
import os
import re
import sys
import time

VALUES = {"index": "0", "uuid": "GPU-00000000-0000-0000-0000-000000000000", "name": "NVIDIA Fake 80GB",
          "driver_version": "580.00.fake", "memory.total": "81920", "persistence_mode": "Disabled",
          "mig.mode.current": "[N/A]", "pci.bus_id": "00000000:10:00.0", "power.draw": "318.50", "temperature.gpu": "40",
          "clocks.sm": "1980"}


def script():
    try:
        with open(os.environ["NVML_FAKE_SCRIPT"], encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def answer(keys, query):
    text = script()
    process = re.search(r"^process 0 (\d+) c (\d+)", text, re.M)
    if query == "compute-apps":
        return f"{VALUES['uuid']}, {process[1]}, {process[2]}, /usr/bin/cuda_load\n" if process else ""
    used = re.search(r"^memory 0 \d+ \d+ (\d+)", text, re.M)
    busy = re.search(r"^utilization 0 (\d+)", text, re.M)
    now = {**VALUES, "memory.used": used[1] if used else "0", "utilization.gpu": busy[1] if busy else "0"}
    return ", ".join(now[key] for key in keys) + "\n"


def main():
    if sys.argv[1:] == ["-L"]:
        print(f"GPU 0: {VALUES['name']} (UUID: {VALUES['uuid']})")
        return
    query, keys = re.fullmatch(r"--query-(gpu|compute-apps)=(.*)", sys.argv[1]).groups()
    assert sys.argv[2].startswith("--format=csv,noheader"), sys.argv
    while True:
        sys.stdout.write(answer(keys.split(","), query))
        sys.stdout.flush()
        if "-lms" not in sys.argv:
            return
        time.sleep(float(sys.argv[sys.argv.index("-lms") + 1]) / 1000)


if __name__ == "__main__":
    main()
