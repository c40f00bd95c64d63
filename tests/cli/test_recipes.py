"""The recipes of CONTRIBUTING.md, followed in a copy of the sources: how many lines each takes, and that it works."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import gpu
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


DESTINATION_C = """/* Sends the number of samples of each batch to a file, one a line. */
#include "stream/stream_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "base/write_all.h"
#include "net/redacted_message.h"

static int use_count(struct settings *settings)
{
	settings->of_destination = env_value("TRACKER_COUNT_FILE");
	if (settings->of_destination)
		return 0;
	say_redacted("streaming needs TRACKER_COUNT_FILE");
	return -EINVAL;
}

static void want_nothing(struct metric_set *wanted)
{
	(void)wanted;
}

static int begin_count(struct stream *stream, const struct frame *first)
{
	(void)first;
	stream->spool.state.payload = strdup("-");
	return stream->spool.state.payload ? 0 : -ENOMEM;
}

static int cut_count(struct stream *stream)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(64);
	struct spool_state *state = &stream->spool.state;
	const struct frame *frame;
	int64_t rows = 0;
	int r;

	while ((r = stream_next(stream, rows, &frame)) > 0 && ++rows && !state->outcome.known)
		;
	if (r < 0 || !rows)
		return r;
	buffer_printf(&line, "%lld\\n", (long long)rows);
	r = spool_write_batch(&stream->spool, line.data, line.length);
	if (r < 0)
		return r;
	state->cut++;
	state->rows += rows;
	state->offset = stream->recording.offset;
	return spool_write(&stream->spool);
}

static int end_count(struct stream *stream)
{
	stream->spool.state.outcome.known = true;
	return spool_write(&stream->spool);
}

static int64_t rows_of_count(const struct stream *stream, int64_t number)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(0);
	int64_t rows = 0;

	if (spool_read_batch(&stream->spool, number, &line) == 0)
		scan_i64(&(struct scan){line.data, line.data + line.length}, &rows);
	return rows;
}

static enum stream_step send_count(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer line = BUFFER(0);
	struct outcome outcome = {.verdict = VERDICT_RETRY, .retry_after_secs = -1, .reason = "no file"};

	if (state->sent < state->cut) {
		CLEANUP_CLOSE int fd = open(stream->settings->of_destination, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		if (!stream_read_batch(stream, &line))
			return STEP_MADE;
		if (fd < 0 || write_all(fd, line.data, line.length) < 0)
			return stream_failed(stream, "write the count", &outcome);
		stream_count_sent(stream, true);
		stream_went_well(stream);
		return STEP_MADE;
	}
	if (!state->outcome.known)
		return STEP_IDLE;
	stream_forget(stream);
	return STEP_FINISHED;
}

const struct destination_calls count_destination = {
	.unit = "counted samples",
	.batch_ending = ".count",
	.use = use_count,
	.want = want_nothing,
	.begin = begin_count,
	.cut = cut_count,
	.end = end_count,
	.send = send_count,
	.count = rows_of_count,
};
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
@pytest.mark.timeout(850)
def test_each_recipe_takes_a_few_lines(tmp_path, binary):
    meson = shutil.which("meson")
    if not meson or not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("needs meson and the analysis")
    if not (TOP / ".git").exists():
        pytest.skip("needs the repository")
    copy = Copy(tmp_path / "copy")

    # A text setting: one line in one file.
    copy.add("src/options/job_settings.def", "JOB_SETTING(container_image",
             'JOB_SETTING(cost_center, "cost-center", "cost center that pays for the job", "Cost center")')
    assert copy.take_count() == {"src/options/job_settings.def": 1}
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
    # A GPU reading: what the row of samples has of it, the function of the driver's library, and the metric.
    copy.add("src/gpu/readings.def", "/* Counters. */", "GPU_COUNT(GPU_LANES, lane_count, 2, 0, 1e6)",
             'NVML_U32(GPU_LANES, lanes, 1, RARELY, "nvmlDeviceGetNumGpuCores")')
    copy.add("src/metric/catalogue.def", "COUNT(gpu, core_count", 'COUNT(gpu, lane_count, "", GAUGE, "Lanes")')
    assert copy.take_count() == {"src/gpu/readings.def": 2, "src/metric/catalogue.def": 1}

    built = copy.run(meson, "setup", "build", "-Dtests=disabled", "-Dnetwork=disabled", "-Doptimization=0", "-Dwerror=true")
    assert built.returncode == 0, built.stdout[-2000:]
    built = copy.run("nice", "-n", "5", "ninja", "-C", "build", "product")
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

    nvml = gpu.Nvml(binary, copy.folder / "nvml.script")
    if nvml.library.exists():
        nvml.say("gpus 1")
        recording = copy.folder / "gpu.jsonl"
        copy.run(program, "-i", "0.1", "-o", recording, "-q", "--", "sh", "-c", gpu.stay_until(recording, '"lane_count":'), env=nvml.env(PATH=os.environ["PATH"]))
        device = json.loads(recording.read_text().splitlines()[-1])["gpu"][0]
        assert device["lane_count"] == 2 * device["core_count"] > 0

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


@pytest.mark.slow
@pytest.mark.night
@pytest.mark.timeout(850)
def test_a_destination_of_streaming_takes_a_file_and_a_row(tmp_path, binary):
    meson = shutil.which("meson")
    if not meson or not (pathlib.Path(binary).parent / "resource-tracker-net").exists() or not (TOP / ".git").exists():
        pytest.skip("needs meson, the repository and the network")
    copy = Copy(tmp_path / "copy")
    (copy.folder / "src/stream/stream_count.c").write_text(DESTINATION_C)
    copy.add("src/options/destinations.h", "\tROW(STREAM_OTLP", '\tROW(STREAM_COUNT, "count", count, "to a file of counts") \\')
    assert copy.take_count() == {"src/options/destinations.h": 1}

    built = copy.run(meson, "setup", "build", "-Dtests=disabled", "-Danalysis=disabled", "-Doptimization=0", "-Dwerror=true")
    assert built.returncode == 0, built.stdout[-2000:]
    built = copy.run("nice", "-n", "5", "ninja", "-C", "build", "resource-tracker", "resource-tracker-helper", "resource-tracker-net")
    assert built.returncode == 0, built.stdout[-3000:]
    program, spool, counts = copy.folder / "build/resource-tracker", tmp_path / "spool", tmp_path / "counts"

    def track(file, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "TRACKER_COUNT_FILE": str(file), "TRACKER_HISTORY": "off"}
        return copy.run(program, *arguments, env=environment)

    # Help and messages follow.
    assert "--stream auto|off|count|otlp" in track(counts, "--help=all").stdout
    assert "or to a file of counts, or to a receiver of OTLP" in " ".join(track(counts, "--help=all").stdout.split())
    assert "--stream auto|count|otlp" in track(counts, "upload", "--help").stdout
    assert "give one of auto, off, count, otlp" in track(counts, "--stream", "coun", "--", "true").stderr
    recorded = ["--stream", "count", "--spool", spool, "-o", tmp_path / "x.jsonl", "-i", "0.1", "-q"]
    done = track(counts, *recorded, "--", "sleep", "0.3")
    assert (done.returncode, done.stderr) == (0, "")
    samples = len((tmp_path / "x.jsonl").read_text().splitlines())
    assert sum(map(int, counts.read_text().split())) == samples >= 3
    # The unit, the command that sends the rest, and the name in the spool are the destination's.
    done = track(tmp_path / "none/x", *recorded, "--upload-deadline", "0.5", "--", "true")
    assert done.returncode == 0
    assert "counted samples of this run are not on the server: cannot write the count: no file" in done.stderr
    assert f"to send them: resource-tracker upload --stream count {spool}" in done.stderr
    assert [path.name for path in spool.iterdir() if path.name.endswith(".count.000000.count.gz")]
    done = track(counts, "upload", "--stream", "count", "--spool", spool)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 run is sent; nothing is left in {spool}.\n"
    done = track("", "upload", "--stream", "count", "--spool", spool)
    assert (done.returncode, done.stderr) == (2, "resource-tracker upload: streaming needs TRACKER_COUNT_FILE\n")
