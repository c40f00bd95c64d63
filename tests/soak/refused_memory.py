#!/usr/bin/env python3
"""Refuses each of the first COUNT requests for memory, in every program: tests/soak/refused_memory.py BUILD [COUNT]

Once with all later requests refused, once with that one alone (tests/fakes/bad-memory.c); COUNT is 2000. A job keeps its output and its
status, and no program ends by a signal of its own. Prints a line for each program, and exits with 1 after a fault.
"""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

FAKE = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "bad-memory.c"
CRASHES = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL}
JOB = ("sh", "-c", "echo ran; exit 3")
# Words behind the name of the program; the first word names the program whose requests are refused.
RECORDERS = (("resource-tracker", "-o", "run.jsonl", "--", *JOB), ("resource-tracker", "-q", "--no-history", "--", *JOB),
             ("resource-tracker", "-i", "0.05", "-o", "run.csv", "-o", "run.jsonl.gz", "--report", "page.html", "--", *JOB))
BESIDE = (("resource-tracker-helper",), ("resource-tracker-net", "--upload-deadline", "0.1"))
STREAMING = {"SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": "http://127.0.0.1:9"}
READERS = (("summary", "a.jsonl"), ("summary", "--json", "a.jsonl"), ("report", "a.jsonl", "-o", "page.html"), ("recommend", "a.jsonl"),
           ("stats", "a.jsonl"), ("show", "a.jsonl"), ("export", "a.jsonl", "-o", "x.csv"), ("compare-runs", "a.jsonl", "b.jsonl"),
           ("regions", "a.jsonl"), ("history", "runs.jsonl"), ("combine", "a.jsonl", "b.jsonl", "-o", "c.jsonl"), ("metrics",))


def main():
    build, most = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [2000])[0])
    with tempfile.TemporaryDirectory(prefix="rt-refused-") as folder:
        fake = pathlib.Path(folder, "bad-memory.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", fake, FAKE], check=True)
        inputs = make_recordings(build / "resource-tracker", pathlib.Path(folder))
        sweeps = [(f"{words[0]} {words[1]} {words[2]}", words[0], [build / words[0], *words[1:]], is_whole_job) for words in RECORDERS]
        sweeps += [(words[0], words[0], [build / "resource-tracker", "-q", "-o", "run.jsonl", *words[1:], "--", *JOB], is_whole_job)
                   for words in BESIDE]
        sweeps += [(" ".join(words[:2]), "resource-tracker-analysis", [build / "resource-tracker-analysis", *words],
                    lambda done: done.returncode not in CRASHES) for words in READERS]
        faults = sum(sweep(fake, inputs, most, *words) for words in sweeps)
    print(f"{len(sweeps)} programs, {2 * most} refusals each, {faults} faults")
    return 1 if faults else 0


def make_recordings(binary, folder):
    made = folder / "inputs"
    made.mkdir()
    for name in ("a", "b"):
        subprocess.run([binary, "-q", "-i", "0.05", "-o", f"{name}.jsonl", "--runs", "runs.jsonl", "--", "sh", "-c", "sleep 0.2"],
                       cwd=made, check=True, env={**os.environ, "TRACKER_HISTORY": "off"})
    return made


def is_whole_job(done):
    return (done.returncode, done.stdout) == (3, b"ran\n")


def sweep(fake, inputs, most, name, program, words, holds):
    def refuse(case):
        number, once = case
        environment = {**{key: value for key, value in os.environ.items() if not key.startswith(("TRACKER_", "SENTINEL_"))},
                       "TRACKER_HISTORY": "off", "LD_PRELOAD": str(fake), "BAD_MEMORY": str(number), "BAD_MEMORY_IN": program,
                       **({"BAD_MEMORY_ONCE": "1"} if once else {}), **(STREAMING if program == "resource-tracker-net" else {})}
        with tempfile.TemporaryDirectory(prefix="rt-refused-") as place:
            environment["XDG_STATE_HOME"] = place
            for recording in inputs.iterdir():
                os.symlink(recording, f"{place}/{recording.name}")
            return case, subprocess.run(list(map(str, words)), cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                        timeout=60)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(refuse, [(number, once) for once in (False, True) for number in range(1, most + 1)]))
    wrong = [(case, result) for case, result in done if not holds(result)]
    for (number, once), result in wrong[:3]:
        print(f"request {number}{' alone' if once else ''} of {name}: status {result.returncode}, {result.stderr[-300:]!r}")
    print(f"{name:45} {len(done)} refusals, {len(wrong)} faults", flush=True)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
