"""The rules that `recommend --for snakemake|nextflow` prints, run by the real engines: bench/steps calls the two functions.

Forty earlier runs make a rule by the size of the input. A job with less memory than it needs ends with status 137, as one that the kernel has
killed. Each job gets too little once: its second attempt has to do, with what `recommend --attempt 2` says. Inputs are files with holes, so
that they take no space. A job says the memory and the time that its engine gave it.
"""
import json
import os
import pathlib
import subprocess

MIB = 1 << 20
# By name: the sizes of its files in MiB. The last one is larger than the input of any earlier run.
INPUTS = {"small": [40], "pair": [200, 160], "large": [700], "beyond": [1500]}
# Advice is in steps of 16 MiB, and whole MB and minutes of a rule are rounded.
PART, STEP_MIB = 0.01, 17


def earlier_runs(path):
    """Runs of 20 to 1000 MiB of input, which take 200 MiB and as much as the input, for 100 s and a second for each MiB."""
    lines = [{"schema": 1, "id": f"run-{i}", "outcome": "ok", "name": "align", "started": 1.7e9 + 1e5 * i, "wall_secs": 100.0 + mib * (1 + 0.02 * (i % 5)),
              "memory_peak_mib": 200 + mib * (1 + 0.01 * (i % 7)), "cores_mean": 1.0, "cores_max": 1.0, "cores_p95": 1.0, "cores_needed": 1.0,
              "samples": 60, "input_bytes": mib * MIB, "input_source": "option"} for i, mib in enumerate(20 * (i * 17 % 50 + 1) for i in range(40))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Rule:
    """The rule for an engine, and the advice that it stands for."""

    def __init__(self, program, folder, form):
        self.asked = [program, "recommend", "--history", earlier_runs(folder / "runs.jsonl"), "--job", "align"]
        self.text = subprocess.run([*self.asked, "--for", form], check=True, capture_output=True, text=True).stdout
        self.log = folder / "attempts.txt"
        for name, sizes in INPUTS.items():
            for i, mib in enumerate(sizes):
                (folder / f"{name}-{i}.bin").touch()
                os.truncate(folder / f"{name}-{i}.bin", mib * MIB)

    def advice(self, name, attempt):
        """Returns (MiB, minutes) of the advice for an input and an attempt."""
        told = subprocess.run([*self.asked, "--json", "--input-bytes", str(sum(INPUTS[name]) * MIB), "--attempt", str(attempt)], check=True,
                              capture_output=True, text=True)
        answer = json.loads(told.stdout)
        return answer["memory"], answer["time_secs"] / 60

    def script(self, name, mib, minutes, attempt):
        """A job that logs what it was given, and needs a little more than the first attempt's advice."""
        return (f"echo {name} {attempt} {mib} {minutes} >>{self.log}; need=$(cat {self.log.parent}/need-{name}); "
                f"[ {mib} -ge $need ] || exit 137")

    def prepare(self):
        for name in INPUTS:
            (self.log.parent / f"need-{name}").write_text(str(int(self.advice(name, 1)[0] * 1.2)))

    def judge(self, engine, table):
        said = {}
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            name, _, mib, minutes = line.split()
            said.setdefault(name, []).append((float(mib), float(minutes)))
        for name in INPUTS:
            tries = said.get(name, [])
            table.row(engine, f"rule, {name}", "attempts", len(tries), None, None, wanted=2)
            for attempt, (mib, minutes) in enumerate(tries[:2], 1):
                advised_mib, advised_minutes = self.advice(name, attempt)
                room = PART * advised_mib + STEP_MIB
                table.row(engine, f"rule, {name}, {attempt}", "memory, MiB", advised_mib, mib, None, least=mib - room, most=mib + room)
                room = PART * advised_minutes + attempt
                table.row(engine, f"rule, {name}, {attempt}", "time, min", advised_minutes, minutes, None, least=minutes - room, most=minutes + room)


def try_snakemake_rule(program, snakemake, folder, table, environment, left):
    rule = Rule(program, folder, "snakemake")
    rule.prepare()
    script = rule.script("{wildcards.name}", "$(({resources.mem_mb} * 1000000 / 1048576))", "{resources.runtime}", "-")
    files = {name: [f"{name}-{i}.bin" for i in range(len(sizes))] for name, sizes in INPUTS.items()}
    (folder / "Snakefile").write_text(
        f"FILES = {files!r}\nrule all:\n    input: {[f'{name}.done' for name in INPUTS]!r}\n"
        "rule align:\n    input: lambda wildcards: FILES[wildcards.name]\n    output: '{name}.done'\n"
        + "".join(f"    {line}\n" for line in rule.text.splitlines()) + f"    shell: {script + '; touch {output}'!r}\n")
    result = subprocess.run([snakemake, "--cores", "2"], cwd=folder, env=environment(XDG_CACHE_HOME=str(folder / "cache")), capture_output=True,
                            text=True, timeout=left(), stdin=subprocess.DEVNULL)
    table.expect(result.returncode == 0, "snakemake: the rule failed:", result.stderr[-2000:])
    rule.judge("snakemake", table)


def try_nextflow_rule(program, nextflow, folder, table, environment, left):
    rule = Rule(program, folder, "nextflow")
    rule.prepare()
    script = rule.script("${name}", "${task.memory.toMega()}", "${task.time.toMinutes()}", "${task.attempt}").replace("$(", "\\$(").replace(" $need", " \\$need")
    files = ", ".join(f"['{name}', [" + ", ".join(f"file('{folder}/{name}-{i}.bin')" for i in range(len(sizes))) + "]]" for name, sizes in INPUTS.items())
    (folder / "main.nf").write_text("process ALIGN {\n  input: tuple val(name), path(reads)\n" + "".join(f"  {line}\n" for line in rule.text.splitlines()) +
                                    f'  script:\n  """\n  {script}\n  """\n}}\nworkflow {{ ALIGN(Channel.of({files})) }}\n')
    result = subprocess.run([*nextflow, "run", "main.nf", "-ansi-log", "false"], cwd=folder, capture_output=True, text=True,
                            env=environment(NXF_OFFLINE="true", NXF_HOME=str(folder / "home")), timeout=left(), stdin=subprocess.DEVNULL)
    table.expect(result.returncode == 0, "nextflow: the rule failed:", result.stdout[-2000:], result.stderr[-2000:])
    rule.judge("nextflow", table)


def program_of(shells):
    return pathlib.Path(shells).parents[1] / "resource-tracker"
