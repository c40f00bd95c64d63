/*
 * Reads recordings, compared with a reader that parses every line with jansson:
 *
 *   reader make PATH SAMPLES   a recording of samples of about 3.5 KB: prints its bytes
 *   reader summary PATH        rt_summary_read():                  prints nanoseconds of CPU and peak KiB
 *   reader stats PATH          the default set of rt_stats:        the same
 *   reader jansson PATH        json_loadb() of every line, and the sum of one value: the same
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buffer.h"
#include "measure.h"
#include "metric/frame.h"
#include "resource_tracker_analysis.h"
#include "format/json_encode.h"
#include "metric/typed_rows.h"

enum { CORES = 64, NETWORKS = 2, DISKS = 1 };

static void fill_row(struct frame *frame, struct row *row, int64_t sample)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		size_t offset = metric_offset(i);

		if (description->metrics[i].type == TYPE_REAL)
			*row_real(row, offset) =
				(double)((sample * 7919 + (int64_t)i * 104729) % 1000000) / 1000;
		else if (description->metrics[i].type == TYPE_TEXT)
			*row_text(row, offset) = frame_text(frame, description->metrics[i].name, 4);
		else
			*row_count(row, offset) = (sample * 104729 + (int64_t)i * 7919) % 10000000;
	}
}

static void fill_frame(struct frame *frame, int64_t sample)
{
	frame_begin(frame, 0, 0);
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row_description *description = &ROW_DESCRIPTIONS[kind];
		int rows = kind == ROW_cpu_core  ? CORES
			   : kind == ROW_network ? NETWORKS
			   : kind == ROW_disk    ? DISKS
						 : 1;

		/* A machine without GPU in the middle of a run. */
		if (kind == ROW_gpu || kind == ROW_gpu_detail || description->shape == OPTIONAL ||
		    ROW_DESCRIPTIONS[description->parent].shape == OPTIONAL)
			continue;
		for (int i = 0; i < rows; i++)
			fill_row(frame,
				 kind == ROW_sample
					 ? &frame->sample->row
					 : frame_add(frame, kind, frame->last[description->parent]),
				 sample);
	}
	frame->sample->timestamp = 1.7e9 + (double)sample;
	frame->sample->timestamp_secs = 1700000000 + sample;
	frame->sample->elapsed_secs = (double)sample + 1;
	frame->sample->actual_interval_ms = 1000;
	frame->sample->sample = sample;
}

static int make(const char *path, int64_t samples)
{
	FILE *file = fopen(path, "w");
	struct buffer line = BUFFER(1 << 20);
	struct frame frame = {0};
	size_t bytes = 0;

	for (int64_t i = 0; file && i < samples; i++) {
		fill_frame(&frame, i);
		buffer_clear(&line);
		write_frame_json(&line, &frame, false);
		buffer_add_char(&line, '\n');
		bytes += fwrite(line.data, 1, line.length, file);
	}
	frame_done(&frame);
	buffer_done(&line);
	if (!file || fclose(file) != 0)
		return 1;
	printf("%zu\n", bytes);
	return 0;
}

static int with_jansson(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	double sum = 0;

	while (file && (length = getline(&line, &size, file)) > 0) {
		json_error_t error;
		json_t *sample = json_loadb(line, (size_t)length, 0, &error);

		sum += json_real_value(json_object_get(json_object_get(sample, "cpu"), "process_cores_used"));
		json_decref(sample);
	}
	free(line);
	return !file || fclose(file) != 0 || sum <= 0;
}

static int summarise(const char *path)
{
	struct rt_problem problem;
	rt_summary *summary;

	if (rt_summary_read(&path, 1, &summary, &problem) < 0)
		return 1;
	rt_summary_free(summary);
	return 0;
}

static int compute(const char *path)
{
	size_t count;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&count);
	struct rt_problem problem;
	rt_stats *stats;

	if (rt_stats_read_record(&path, 1, specs, count, &stats, &problem) < 0)
		return 1;
	rt_stats_free(stats);
	return 0;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int failed;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "make") == 0)
		return argc == 4 ? make(argv[2], atoll(argv[3])) : 2;
	failed = strcmp(argv[1], "jansson") == 0   ? with_jansson(argv[2])
		 : strcmp(argv[1], "summary") == 0 ? summarise(argv[2])
						   : compute(argv[2]);
	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRId64 "\n%ld\n",
	       (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
		       (int64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000,
	       peak_resident_kib());
	return failed;
}
