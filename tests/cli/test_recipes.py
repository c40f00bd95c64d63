"""The recipes of CONTRIBUTING.md, followed in a copy of the sources: how many lines each takes, and that it works."""
import json
import pathlib
import shutil
import subprocess

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]

SUBCOMMAND_C = """/* length: how many samples a run has. */
#include <stdio.h>

#include "analysis/command.h"
#include "resource_tracker_analysis.h"

int run_length(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(length) options = {0};
	struct rt_problem problem = {""};
	rt_summary *summary = NULL;
	char text[64];
	int length, status = command_read(command, argv, &options);

	if (status)
		return status;
	if (rt_summary_read(options.line.files.texts, options.line.files.count, &summary, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	length = snprintf(text, sizeof(text), options.json ? "[%.0f]\\n" : "%.0f\\n",
			  (double)rt_summary_get(summary, "run", "samples").count);
	rt_summary_free(summary);
	return command_write(command, NULL, text, (size_t)length);
}
"""

EXPORT_C = """/* Writes how many samples a recording has. */
#include "base/buffer.h"
#include "export/export.h"
#include "export/output.h"

int export_length(const struct export_job *job)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(100);
	CLEANUP_RECORD struct record *record = NULL;
	struct output output = {.fd = -1};
	struct record_options options = {0};
	const struct frame *frame;
	long long count = 0;
	int result = record_open(job->paths, job->path_count, &options, &record, job->problem);

	while (result == 0 && record_next(record, &frame) > 0)
		count++;
	buffer_printf(&text, "%lld\\n", count);
	if (result == 0)
		result = output_open(&output, job->output, false, job->problem);
	if (result < 0)
		return result;
	output_write(&output, &text);
	result = output_finish(&output, job->problem);
	output_close(&output);
	return result;
}
"""


class Copy:
    """A copy of the sources, and how many lines were added to which file."""

    def __init__(self, folder):
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ":!bindings", ":!bench"],
                                cwd=TOP, capture_output=True, check=True).stdout.decode().split("\0")
        for name in listed:
            if name and (TOP / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TOP / name, folder / name)
        self.added = {}

    def add(self, name, before, *lines):
        """Puts lines before the first one that begins so."""
        path = self.folder / name
        have = path.read_text().split("\n")
        at = next(number for number, line in enumerate(have) if line.startswith(before))
        path.write_text("\n".join([*have[:at], *lines, *have[at:]]))
        self.added[name] = self.added.get(name, 0) + len(lines)

    def take_count(self):
        added, self.added = self.added, {}
        return added

    def run(self, *command, **more):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_each_recipe_takes_a_few_lines(tmp_path, binary):
    meson = shutil.which("meson")
    if not meson or not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("needs meson and the analysis")
    if not (TOP / ".git").exists():
        pytest.skip("needs the repository")
    copy = Copy(tmp_path / "copy")

    # A text setting: one line in one file.
    copy.add("src/options/settings.def", "JOB_SETTING(container_image",
             'JOB_SETTING(cost_center, "cost-center", "cost center that pays for the job", "Cost center")')
    assert copy.take_count() == {"src/options/settings.def": 1}
    # A metric: its line, and its assignment.
    copy.add("src/metric/catalogue.def", "REAL(memory, active_mib",
             'REAL(memory, shared_mib, "MiB", 3, GAUGE, "Shared memory and tmpfs")')
    collector = copy.folder / "src/collect/host_memory.c"
    alike = next(line for line in collector.read_text().splitlines() if line.startswith("\trow->active_mib"))
    copy.add("src/collect/host_memory.c", "\trow->active_mib", alike.replace("active_mib", "shared_mib").replace("active_kib", "shmem_kib"))
    assert sum(copy.take_count().values()) == 2
    # A subcommand: one file, and its row with one option.
    (copy.folder / "src/analysis/cmd_length.c").write_text(SUBCOMMAND_C)
    copy.add("src/options/analysis_subcommands.def", "SUBCOMMAND(combine",
             'SUBCOMMAND(length, "length", "FILE", "samples of a run", "Count samples", "", "resource-tracker length x.jsonl\\n'
             'resource-tracker length --json last")')
    assert copy.take_count() == {"src/options/analysis_subcommands.def": 1}
    # Its options are rows of their own.
    copy.add("src/options/analysis_subcommands.def", "SUBCOMMAND(combine",
             'OPTION(length, json, "json", 0, SWITCH, "", "", "print a list")')
    assert copy.take_count() == {"src/options/analysis_subcommands.def": 1}
    # An export format: one file and its row.
    (copy.folder / "src/export/export_length.c").write_text(EXPORT_C)
    copy.add("src/options/export_formats.h", "\tFORMAT(jobstats", '\tFORMAT(length, "length", "len", "the number of samples") \\')
    assert copy.take_count() == {"src/options/export_formats.h": 1}

    built = copy.run(meson, "setup", "build", "-Dtests=disabled", "-Dnetwork=disabled", "-Doptimization=0", "-Dwerror=true")
    assert built.returncode == 0, built.stdout[-2000:]
    built = copy.run("nice", "ninja", "-C", "build", "product")
    assert built.returncode == 0, built.stdout[-3000:]
    program = copy.folder / "build" / "resource-tracker"

    def first_sample(*arguments, **environment):
        done = copy.run(program, "-o", "-", "-q", *arguments, "--", "true", env={"PATH": "/usr/bin:/bin", **environment})
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout.splitlines()[0])

    assert first_sample()["run_start"]["cost_center"] is None
    assert first_sample("--cost-center", "A")["run_start"]["cost_center"] == "A"
    assert first_sample(TRACKER_COST_CENTER="B")["run_start"]["cost_center"] == "B"
    (copy.folder / "x.toml").write_text('[job]\ncost_center = "C"\n')
    assert first_sample("--config", "x.toml")["run_start"]["cost_center"] in ("C", None)  # None: built without TOML
    assert first_sample()["memory"]["shared_mib"] >= 0
    names = [metric["name"] for metric in json.loads(copy.run(program, "metrics", "--json").stdout)]
    assert "memory.shared_mib" in names and "run_start.cost_center" in names

    recordings.steady(copy.folder / "x.jsonl")
    samples = len((copy.folder / "x.jsonl").read_text().splitlines())
    assert copy.run(program, "length", "x.jsonl").stdout == f"{samples}\n"
    assert json.loads(copy.run(program, "length", "--json", "x.jsonl").stdout) == [samples]
    assert copy.run(program, "length", "--jsn").stderr.startswith(
        "resource-tracker length: unknown option '--jsn'; the nearest is --json")
    assert copy.run(program, "export", "x.jsonl", "-o", "x.len").stderr == ""
    assert (copy.folder / "x.len").read_text() == copy.run(program, "export", "-f", "length", "x.jsonl").stdout == f"{samples}\n"
    assert "length: the number of samples." in copy.run(program, "export", "--help").stdout
    assert "or .len" in copy.run(program, "export", "x.jsonl", "-o", "x.odd").stderr
    for completion in ("_resource-tracker", "resource-tracker.bash", "resource-tracker.fish"):
        assert " length jobstats" in (copy.folder / "build/src/cli" / completion).read_text(), completion
    fuzzed = copy.run("python3", "-c", "import runpy; print(runpy.run_path('tools/fuzz-commands')['COMMANDS'])")
    assert "'export', '-f', 'length'" in fuzzed.stdout, fuzzed.stderr
    # Help, man pages and completions follow: the check compares them with the tables.
    checked = copy.run("python3", "tools/check-docs", program, copy.folder / "build")
    assert checked.returncode == 0, checked.stdout
    if shutil.which("scdoc"):
        assert (copy.folder / "build/src/cli/resource-tracker-length.1").exists()
