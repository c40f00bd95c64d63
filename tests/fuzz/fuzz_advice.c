/*
 * Any bytes as what advice, phases and comparisons read beside recordings. The first letter says as what:
 *   a statistics of an earlier run    b catalogue of servers, CSV or SQLite    c gpu_tracker's tracking file
 *   d gpu_tracker's sub-tracking file    e marks of a job    f analysis of gpu_tracker    g recording for a page
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "resource_tracker_analysis.h"

/* A run of two seconds, with numbers in the corpus's range. */
static const char RECORDING[] = "{\"timestamp\":1700000001.0,\"elapsed_secs\":1.0,\"sample\":0,\"host\":"
				"\"h\",\"cpu\":{\"process_cores_used\":1.5,"
				"\"process_memory_mib\":100.0},\"run_start\":{\"interval_secs\":1.0}}\n"
				"{\"timestamp\":1700000002.0,\"elapsed_secs\":2.0,\"sample\":1,\"host\":"
				"\"h\",\"cpu\":{\"process_cores_used\":1.5,"
				"\"process_memory_mib\":100.0},\"run_end\":{\"reason\":\"exit\",\"exit_"
				"code\":0,\"wall_secs\":2.0}}\n";

struct file {
	int fd;
	char path[64];
};

static struct file make_file(const char *bytes, size_t length)
{
	struct file file = {.fd = memfd_create("input", MFD_CLOEXEC)};

	must_hold(file.fd >= 0 && write(file.fd, bytes, length) == (ssize_t)length);
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

static void print_advice(const rt_advice *advice)
{
	char *text;

	if (rt_advice_to_json(advice, &text) == 0)
		free(text);
	if (rt_advice_to_text(advice, &text) == 0)
		free(text);
	if (rt_advice_to_form(advice, "slurm", &text, NULL) == 0)
		free(text);
}

/* Reads them alone, and as the history of a run. */
static void as_history(const char *bytes, size_t length)
{
	struct file input = make_file(bytes, length), recording = make_file(RECORDING, sizeof(RECORDING) - 1);
	const char *const paths[] = {input.path, recording.path}, *const swapped[] = {recording.path,
										      input.path};
	const struct rt_recommend_options forced = {.size = sizeof forced, .force = true, .usd_per_hour = 1};
	struct rt_problem problem = {""};
	rt_advice *advice;

	if (rt_recommend(paths, 1, &forced, &advice, &problem) == 0) {
		print_advice(advice);
		rt_advice_free(advice);
	}
	if (rt_recommend(swapped, 2, NULL, &advice, &problem) == 0) {
		print_advice(advice);
		rt_advice_free(advice);
	}
	close(input.fd);
	close(recording.fd);
}

static void as_catalogue(const char *bytes, size_t length)
{
	static const char *const FILTERS[] = {"vendor_id=aws"};
	struct file input = make_file(bytes, length), recording = make_file(RECORDING, sizeof(RECORDING) - 1);
	const char *const paths[] = {recording.path};
	struct rt_problem problem = {""};
	rt_advice *advice = NULL;
	double price = -1;

	must_hold(rt_recommend(paths, 1, NULL, &advice, &problem) == 0);
	for (size_t filters = 0; filters < 2; filters++)
		if (rt_advice_find_server(advice, input.path, FILTERS, filters, &problem) == 0)
			print_advice(advice);
	if (rt_catalogue_price(input.path, "aws/us-east-1/small", &price, &problem) < 0)
		must_hold(price == -1);
	rt_advice_free(advice);
	close(input.fd);
	close(recording.fd);
}

static void print_regions(rt_regions *regions)
{
	struct rt_phase phase = {.size = sizeof phase};
	double start, stop;
	char *text;

	if (rt_regions_to_json(regions, &text) == 0)
		free(text);
	if (rt_regions_to_text(regions, &text) == 0)
		free(text);
	for (size_t i = 0; rt_regions_phase(regions, i, &phase) == 0; i++)
		for (size_t call = 0; rt_regions_call(regions, i, call, &start, &stop) == 0; call++)
			must_hold(call < (size_t)phase.calls);
	rt_regions_free(regions);
}

static void read_gpu_tracker(const char *tracking, const char *sub_tracking)
{
	struct rt_problem problem = {""};
	rt_regions *regions;

	if (rt_regions_read_gpu_tracker(tracking, sub_tracking, &regions, &problem) == 0)
		print_regions(regions);
	else
		must_hold(*problem.text);
}

static void as_tracking_file(const char *bytes, size_t length)
{
	static const char CALLS[] =
		"process_id,code_block_name,position,timestamp\n7,load,0,1.5\n7,load,1,3.5\n";
	struct file input = make_file(bytes, length), calls = make_file(CALLS, sizeof(CALLS) - 1);

	read_gpu_tracker(input.path, calls.path);
	close(input.fd);
	close(calls.fd);
}

static void as_sub_tracking_file(const char *bytes, size_t length)
{
	static const char SAMPLES[] =
		"ram_unit\ngigabytes\nmain_ram,timestamp\n0.5,1.0\n0.75,2.0\n0.25,3.0\n";
	struct file input = make_file(bytes, length), samples = make_file(SAMPLES, sizeof(SAMPLES) - 1);

	read_gpu_tracker(samples.path, input.path);
	close(input.fd);
	close(samples.fd);
}

static void as_marks(const char *bytes, size_t length)
{
	struct file input = make_file(bytes, length), recording = make_file(RECORDING, sizeof(RECORDING) - 1);
	const char *const paths[] = {recording.path};
	struct rt_problem problem = {""};
	rt_regions *regions;

	if (rt_regions_read(paths, 1, input.path, NULL, 0, &regions, &problem) == 0)
		print_regions(regions);
	close(input.fd);
	close(recording.fd);
}

static void as_analysis(const char *bytes, size_t length)
{
	struct file input = make_file(bytes, length), recording = make_file(RECORDING, sizeof(RECORDING) - 1);
	const struct rt_compared_run same[] = {{"a", input.path}, {"b", input.path}},
				     other[] = {{"a", recording.path}, {"b", input.path}};
	struct rt_problem problem = {""};
	char *text;

	for (int json = 0; json < 2; json++) {
		if (rt_compare_phases(same, 2, "mean", json, &text, &problem) == 0)
			free(text);
		if (rt_compare_phases(other, 2, "max", json, &text, &problem) == 0)
			free(text);
	}
	close(input.fd);
	close(recording.fd);
}

static void as_recording(const char *bytes, size_t length)
{
	struct file input = make_file(bytes, length), recording = make_file(RECORDING, sizeof(RECORDING) - 1);
	const struct rt_compared_run runs[] = {{"a", recording.path}, {"b", input.path}};
	const char *const paths[] = {recording.path, input.path};
	struct rt_problem problem = {""};
	rt_comparison *comparison;
	char *text;

	(void)rt_report_runs(runs, 2, "/dev/null", NULL, NULL, &problem);
	(void)rt_combine(paths, 2, "/dev/null", &problem);
	if (rt_compare(runs, 2, &comparison, &problem) == 0) {
		if (rt_comparison_to_text(comparison, &text) == 0)
			free(text);
		rt_comparison_free(comparison);
	}
	close(input.fd);
	close(recording.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser AS[] = {as_history, as_catalogue, as_tracking_file, as_sub_tracking_file,
					 as_marks,   as_analysis,  as_recording};

	fuzz_one_of(AS, sizeof(AS) / sizeof(AS[0]), bytes, length);
	return 0;
}
