/* Feeds any bytes as a recording, and makes everything that can be made of one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "format/json_decode.h"
#include "format/json_encode.h"
#include "record/reader.h"
#include "resource_tracker_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Reads, writes and reads again: the second reading must equal the first. */
static void read_frames(const char *path)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64 << 20);
	struct record_options options = {0};
	struct rt_problem problem;
	const struct frame *frame;
	struct record *record;

	metric_set_add_all(&options.wanted);
	if (record_open(&path, 1, &options, &record, &problem) < 0)
		return;
	while (record_next(record, &frame) > 0) {
		struct json_decoder again;
		struct frame copy = {0};

		buffer_clear(&out);
		write_frame_json(&out, frame, false);
		json_decoder_init(&again, &options.wanted);
		frame_begin(&copy, 0, 0);
		if (buffer_error(&out) == 0 &&
		    !json_decoder_read(&again, scan_bytes(out.data, out.length), &copy))
			abort();
		json_decoder_done(&again);
		frame_done(&copy);
	}
	record_close(record);
}

static void summarise(const char *path)
{
	const struct rt_gpu_tracker_options options = {.size = sizeof options};
	struct rt_problem problem;
	rt_summary *summary;
	char *text = NULL;

	if (rt_summary_read(&path, 1, &summary, &problem) < 0)
		return;
	if (rt_summary_to_markdown(summary, RT_SIZE_AUTO, &text) == 0)
		free(text);
	if (rt_summary_to_text(summary, RT_SIZE_AUTO, &text) == 0)
		free(text);
	if (rt_summary_to_json(summary, &text) == 0)
		free(text);
	if (rt_summary_to_gpu_tracker(summary, &options, true, &text, &problem) == 0)
		free(text);
	rt_summary_free(summary);
}

static void compute(const char *path)
{
	static const struct rt_stat_spec SPECS[] = {{"process_cpu_usage", "p95", NULL, 2},
						    {"timestamp", "duration", NULL, RT_STAT_NOT_ROUNDED},
						    {"disk[sum].read_bytes_per_sec", "std", NULL, 1},
						    {"cpu.per_core_pct[0]", "time_mean", NULL, 1},
						    {"system_net_recv_bytes", "sum", NULL, 1},
						    {"disk[sda].mounts[/].used_pct", "last", NULL, 1}};
	struct rt_problem problem;
	rt_table *table = NULL;
	rt_stats *stats;
	char *text;

	if (rt_stats_read_record(&path, 1, SPECS, ARRAY_SIZE(SPECS), &stats, &problem) == 0) {
		if (rt_stats_to_json(stats, &text) == 0)
			free(text);
		if (rt_stats_to_text(stats, &text) == 0)
			free(text);
		rt_stats_free(stats);
	}
	if (rt_table_read_record(&path, 1, NULL, 0, &table, &problem) == 0 &&
	    rt_table_to_text(table, 10, &text) == 0)
		free(text);
	rt_table_free(table);
}

static void export_as(const char *path, const char *format)
{
	const struct rt_export_options options = {.size = sizeof options, .format = format};
	struct rt_problem problem;

	(void)rt_export(&path, 1, "/dev/null", &options, &problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	CLEANUP_CLOSE int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_frames(path);
	summarise(path);
	compute(path);
	export_as(path, "csv");
	export_as(path, "snapshot");
	export_as(path, "gpu_tracker");
	return 0;
}
