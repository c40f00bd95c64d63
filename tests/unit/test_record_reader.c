/* Tests of src/record/reader.c and its decoders: the sinks write files, which are then read back. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "format/csv_layout.h"
#include "format/json_encode.h"
#include "format/sample_format.h"
#include "metric/typed_rows.h"
#include "record/reader.h"
#include "record/record_file.h"

static char path[64], other_path[64];

static int make_paths(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_record_XXXXXX");
	snprintf(other_path, sizeof(other_path), "/tmp/test_record_XXXXXX");
	close(mkstemp(path));
	close(mkstemp(other_path));
	return 0;
}

static int remove_paths(void **state)
{
	(void)state;
	unlink(path);
	unlink(other_path);
	return 0;
}

static void write_file(const char *to, const char *bytes, size_t length)
{
	FILE *file = fopen(to, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static void write_gzip(const char *to, const char *bytes, size_t length)
{
	gzFile file = gzopen(to, "ab");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, bytes, (unsigned)length), length);
	gzclose(file);
}

/* Returns a number that is different for each field. */
static double made_up(enum row_kind kind, size_t index, int sample)
{
	return (double)(kind * 64 + index) + sample * 0.5;
}

static void fill_row(struct frame *frame, struct row *row, int sample)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	char text[32];

	for (size_t i = 0; i < description->metric_count; i++) {
		size_t offset = metric_offset(i);

		if (description->metrics[i].type == TYPE_REAL) {
			*row_real(row, offset) = made_up(row->kind, i, sample);
		} else if (description->metrics[i].type == TYPE_TEXT) {
			int length = snprintf(text, sizeof(text), "%s \"%zu\"\n", description->name, i);

			*row_text(row, offset) = frame_text(frame, text, (size_t)length);
		} else {
			*row_count(row, offset) = description->metrics[i].type == TYPE_FLAG
							  ? 1
							  : (int64_t)made_up(row->kind, i, 2 * sample);
		}
	}
}

/*
 * Fills every kind of row and every field. The rows of a kind are below the last row of their parent's kind.
 */
static void fill_frame(struct frame *frame, int sample)
{
	frame_begin(frame, 0, 0);
	fill_row(frame, &frame->sample->row, sample);
	frame->sample->timestamp = 1.7e9 + sample;
	frame->sample->elapsed_secs = sample;
	frame->sample->sample = sample;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		if (kind == ROW_sample)
			continue;
		for (int i = 0; i < (ROW_DESCRIPTIONS[kind].shape >= ARRAY ? 2 : 1); i++)
			fill_row(frame, frame_add(frame, kind, frame->last[ROW_DESCRIPTIONS[kind].parent]),
				 sample);
	}
	/* The reader drops proportional sets older than any recorder writes. */
	((struct tracker_row *)(void *)frame->first[ROW_tracker])->pss_age_secs = 0.5;
}

static void add_sample(struct buffer *out, int sample, bool identity)
{
	struct frame frame = {0};

	fill_frame(&frame, sample);
	if (!identity)
		frame.first[ROW_run_start] = frame.first[ROW_run_end] = NULL;
	write_frame_json(out, &frame, false);
	buffer_add_char(out, '\n');
	frame_done(&frame);
}

static struct record *open_all(const char *const *paths, size_t count)
{
	struct record_options options = {0};
	struct rt_problem problem = {0};
	struct record *record = NULL;
	int result;

	metric_set_add_all(&options.wanted);
	result = record_open(paths, count, &options, &record, &problem);
	if (result < 0)
		print_message("%s\n", problem.text);
	assert_int_equal(result, 0);
	return record;
}

static struct record *open_one(void)
{
	const char *const paths[] = {path};

	return open_all(paths, 1);
}

static int open_fails(const char *file, struct rt_problem *problem)
{
	struct record_options options = {0};
	struct record *record = NULL;

	return record_open(&file, 1, &options, &record, problem);
}

static void reader_restores_written_samples(void **state)
{
	CLEANUP_BUFFER struct buffer written = BUFFER(1 << 20), again = BUFFER(1 << 20);
	const struct frame *frame;
	struct record *record;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_sample(&written, i, i == 0);
	write_file(path, written.data, written.length);
	record = open_one();
	while (record_next(record, &frame) > 0) {
		write_frame_json(&again, frame, false);
		buffer_add_char(&again, '\n');
	}
	assert_string_equal(again.data, written.data);
	assert_int_equal(record_damage(record).bad_lines, 0);
	assert_int_equal(record_damage(record).torn_tails, 0);
	assert_int_equal(record_run(record), 1);
	assert_non_null(FIRST(record_identity(record), run_start_tag));
	record_close(record);
}

static void gzip_members_follow_each_other(void **state)
{
	CLEANUP_BUFFER struct buffer written = BUFFER(1 << 20);
	const struct frame *frame;
	struct record *record;
	int samples = 0;

	(void)state;
	unlink(path);
	for (int i = 0; i < 200; i++) {
		buffer_clear(&written);
		add_sample(&written, i, i == 0);
		write_gzip(path, written.data, written.length);
	}
	record = open_one();
	while (record_next(record, &frame) > 0)
		assert_int_equal(frame->sample->sample, samples++);
	assert_int_equal(samples, 200);
	assert_int_equal(record_damage(record).torn_tails, 0);
	record_close(record);
}

static void damage_is_counted_and_the_rest_is_read(void **state)
{
	CLEANUP_BUFFER struct buffer written = BUFFER(1 << 20);
	struct record_damage damage;
	const struct frame *frame;
	struct record *record;
	int samples = 0;

	(void)state;
	add_sample(&written, 0, true);
	buffer_add_text(&written, "{\"timestamp_secs\":17,\"cpu\":{\"utiliz\n");
	buffer_add(&written, "\0\0\0\n", 4);
	buffer_add_text(&written, "{\"no\":\"time\"}\n\n");
	add_sample(&written, 1, false);
	write_file(path, written.data, written.length - 10);
	record = open_one();
	while (record_next(record, &frame) > 0)
		samples++;
	damage = record_damage(record);
	assert_int_equal(samples, 1);
	assert_int_equal(damage.torn_tails, 1);
	assert_int_equal(damage.bad_lines, 3);
	assert_int_equal(damage.first_bad_line, 2);
	record_close(record);
}

static void a_cut_off_gzip_gives_its_whole_lines(void **state)
{
	CLEANUP_BUFFER struct buffer written = BUFFER(8 << 20);
	const struct frame *frame;
	struct record *record;
	int samples = 0;

	(void)state;
	for (int i = 0; i < 500; i++)
		add_sample(&written, i, i == 0);
	unlink(path);
	write_gzip(path, written.data, written.length);
	assert_int_equal(truncate(path, 20000), 0);
	record = open_one();
	while (record_next(record, &frame) > 0)
		samples++;
	assert_true(samples > 10 && samples < 500);
	assert_int_equal(record_damage(record).torn_tails, 1);
	assert_int_equal(record_damage(record).bad_lines, 0);
	record_close(record);
}

static void reader_fills_only_the_wanted_metrics(void **state)
{
	CLEANUP_BUFFER struct buffer written = BUFFER(1 << 20);
	struct record_options options = {0};
	const char *const paths[] = {path};
	const struct frame *frame;
	struct record *record;

	(void)state;
	add_sample(&written, 4, true);
	write_file(path, written.data, written.length);
	WANT(&options.wanted, tree, process_rss_mib);
	WANT(&options.wanted, mount, used_pct);
	assert_int_equal(record_open(paths, 1, &options, &record, NULL), 0);
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(FIRST(frame, tree)->process_rss_mib > 0);
	assert_true(real_absent(FIRST(frame, tree)->process_pss_mib));
	assert_null(FIRST(frame, memory));
	assert_null(FIRST(frame, network));
	/* Rows come with their keys. */
	assert_false(text_absent(FIRST(frame, disk)->device));
	assert_false(text_absent(FIRST(frame, mount)->mount_point));
	assert_true(real_absent(FIRST(frame, disk)->read_bytes_per_sec));
	assert_int_equal(record_next(record, &frame), 0);
	assert_false(real_absent(FIRST(record_identity(record), run_end)->wall_secs));
	record_close(record);
}

static void later_and_earlier_schemas_are_read(void **state)
{
	static const char TEXT[] = "{ \"timestamp_secs\" : 100, \"later\" : {\"a\":[1,{\"b\":\"]}\"}]}, "
				   "\"cpu\" : { \"utilization_pct\" : 2.5, "
				   "\"new\":\"x\", \"process_count\": 12.0, \"per_core_pct\":[] }, "
				   "\"memory\":{\"used_mib\":7}, \"disk\":null,"
				   "\"host\":\"a\\u00e4\\ud83d\\ude00\\n\", \"job_name\": 7, "
				   "\"network\":[{},{\"interface\":\"e\"}]}\n"
				   "{\"timestamp_secs\":102,\"cpu\":7,\"memory\":{\"used_mib\":NaN}}\n";
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, TEXT, strlen(TEXT));
	record = open_one();
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(frame->sample->timestamp == 100);
	assert_true(frame->sample->elapsed_secs == 0);
	assert_true(real_absent(frame->sample->actual_interval_ms));
	assert_true(FIRST(frame, host_cpu)->utilization_pct == 2.5);
	assert_int_equal(FIRST(frame, host_cpu)->process_count, 12);
	assert_true(FIRST(frame, memory)->used_mib == 7);
	assert_string_equal(frame->sample->host, "a\xc3\xa4\xf0\x9f\x98\x80\n");
	assert_true(text_absent(frame->sample->job_name));
	assert_string_equal(NEXT(FIRST(frame, network), network)->interface, "e");
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(frame->sample->elapsed_secs == 2);
	assert_true(frame->sample->actual_interval_ms == 2000);
	assert_null(FIRST(frame, host_cpu));
	assert_true(real_absent(FIRST(frame, memory)->used_mib));
	assert_true(record_interval_secs(record) == 2);
	assert_int_equal(record_next(record, &frame), 0);
	record_close(record);
}

static void every_csv_layout_comes_back_in_the_units_of_the_catalogue(void **state)
{
	(void)state;
	for (size_t i = 0; i < 7; i++) {
		static const char *const LAYOUTS[] = {"combined",    "system",     "process", "system-0.4",
						      "process-0.4", "system-0.1", "pid-0.1"};
		CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
		struct format_options options = {.header = true, .layout = LAYOUTS[i]};
		struct format_state format_state = {0};
		struct frame written = {0};
		const struct frame *frame;
		struct record *record;

		fill_frame(&written, 1);
		SINGLE_ROW(&written, tree)->process_utime_secs = 0.5;
		SINGLE_ROW(&written, host_cpu)->stime_secs = 0.25;
		SINGLE_ROW(&written, memory)->used_mib = 77;
		SINGLE_ROW(&written, memory)->used_less_cache_mib = 77;
		SINGLE_ROW(&written, tree)->process_memory_mib = 88;
		CSV_FORMAT.begin(&out, &options);
		CSV_FORMAT.sample(&out, &written, &options, &format_state);
		frame_done(&written);
		write_file(path, out.data, out.length);
		record = open_one();
		assert_string_equal(record_layout(record), LAYOUTS[i]);
		assert_int_equal(record_next(record, &frame), 1);
		assert_true(frame->sample->timestamp == 1700000001);
		if (FIRST(frame, memory)) {
			assert_true(FIRST(frame, memory)->used_mib == 77);
			assert_true(FIRST(frame, host_cpu)->stime_secs == 0.25);
		}
		if (FIRST(frame, tree)) {
			assert_true(FIRST(frame, tree)->process_memory_mib == 88);
			assert_true(FIRST(frame, tree)->process_utime_secs == 0.5);
		}
		assert_true(FIRST(frame, memory) || FIRST(frame, tree));
		assert_int_equal(record_damage(record).unknown_columns, 0);
		record_close(record);
	}
}

/*
 * Versions 0.2 and 0.3 had the headings of 0.4, but clock ticks, and the forks since boot as the number of
 * processes.
 */
static void ticks_are_recognised(void **state)
{
	static const char TICKS[] =
		"\"timestamp\",\"processes\",\"utime\",\"stime\",\"cpu_usage\",\"memory_free\"\r\n"
		"1741785685.6762981,1147955,40,31,0.7098,2048\r\n"
		"1741785686.676473,1147984,23,49,0.7199,2048\r\n";
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, TICKS, strlen(TICKS));
	record = open_one();
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(FIRST(frame, host_cpu)->utime_secs == 0.40);
	assert_true(FIRST(frame, memory)->free_mib == 2);
	assert_true(count_absent(FIRST(frame, host_cpu)->process_count));
	record_close(record);
}

static void unfinished_and_odd_csv_lines_are_counted(void **state)
{
	static const char TEXT[] = "timestamp,system_cpu_usage,mystery\n"
				   "10,1.5,x\n"
				   "11,nan,\n"
				   "12,2\n"
				   "13,2,,4\n"
				   "timestamp,system_cpu_usage,mystery\n"
				   "\"14\",\"1,5\",\"a\"\"b\"\n"
				   "15,2,";
	struct record_damage damage;
	const struct frame *frame;
	struct record *record;
	int samples = 0;

	(void)state;
	write_file(path, TEXT, strlen(TEXT));
	record = open_one();
	while (record_next(record, &frame) > 0)
		samples++;
	damage = record_damage(record);
	assert_int_equal(samples, 3);
	assert_int_equal(damage.bad_lines, 2);
	assert_int_equal(damage.first_bad_line, 4);
	assert_int_equal(damage.torn_tails, 1);
	assert_int_equal(damage.unknown_columns, 1);
	record_close(record);
}

static void reader_refuses_other_files_in_one_line(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		int error;
	} CASES[] = {
		{"", 0, -ENODATA},
		{"\n \n", 3, -ENODATA},
		{"\x7f"
		 "ELF\0\0\0",
		 7, -EBADMSG},
		{"SQLite format 3\0", 16, -EBADMSG},
		{"a,b,c\n1,2,3\n", 12, -EBADMSG},
		{"ram_unit,gpu_ram_unit\nx,y\n", 26, -EBADMSG},
	};
	struct rt_problem problem;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		problem = (struct rt_problem){0};
		write_file(path, CASES[i].bytes, CASES[i].length);
		assert_int_equal(open_fails(path, &problem), CASES[i].error);
		assert_non_null(strstr(problem.text, path));
		assert_null(strchr(problem.text, '\n'));
	}
	assert_int_equal(open_fails("/nonexistent/file", &problem), -ENOENT);
	assert_int_equal(open_fails("/tmp", &problem), -EISDIR);
}

static void a_file_without_any_sample_is_an_error(void **state)
{
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, "{\n\"timestamp_secs\":1\n}\n", 24);
	record = open_one();
	assert_int_equal(record_next(record, &frame), -EBADMSG);
	assert_non_null(strstr(record_problem(record)->text, "line 1"));
	record_close(record);
}

static void runs_and_hosts_are_told_apart(void **state)
{
	static const char TEXT[] =
		"{\"timestamp\":10.5,\"sample\":0,\"host\":\"a\"}\n"
		"{\"timestamp\":11.5,\"sample\":1,\"host\":\"a\"}\n"
		"{\"timestamp\":9.5,\"sample\":2,\"host\":\"b\"}\n"
		"{\"timestamp\":20.5,\"sample\":0,\"host\":\"a\",\"run_start\":{\"executable\":\"x\"}}\n";
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, TEXT, strlen(TEXT));
	record = open_one();
	for (int i = 0; i < 3; i++)
		assert_int_equal(record_next(record, &frame), 1);
	/* A clock that was set back does not make elapsed time run backwards. */
	assert_true(frame->sample->elapsed_secs == 2);
	assert_int_equal(record_damage(record).clock_steps, 1);
	assert_int_equal(record_run(record), 1);
	assert_int_equal(record_next(record, &frame), 1);
	assert_int_equal(record_run(record), 2);
	assert_true(frame->sample->elapsed_secs == 0);
	assert_int_equal(record_damage(record).hosts, 2);
	assert_string_equal(FIRST(record_identity(record), run_start)->executable, "x");
	record_close(record);
}

/* A recorder repeats run_start in a file that begins anew. The parts may be joined again. */
static void a_run_goes_on_behind_a_repeated_start(void **state)
{
	static const struct {
		const char *line;
		size_t run;
	} LINES[] = {
		{"{\"timestamp\":10.5,\"sample\":0,\"run_start\":{\"run_id\":\"a\"}}\n", 1},
		{"{\"timestamp\":11.5,\"sample\":1,\"run_start\":{\"run_id\":\"a\"}}\n", 1},
		{"{\"timestamp\":12.5,\"sample\":2,\"run_start\":{\"run_id\":\"b\"}}\n", 2},
		{"{\"timestamp\":13.5,\"sample\":3,\"run_start\":{\"run_id\":null}}\n", 3},
		{"{\"timestamp\":14.5,\"sample\":4,\"run_start\":{\"run_id\":\"b\"}}\n", 4},
		{"{\"timestamp\":15.5,\"sample\":4,\"run_start\":{\"run_id\":\"b\"}}\n", 5},
		{"{\"timestamp\":16.5,\"run_start\":{\"run_id\":\"b\"}}\n", 6},
	};
	char text[1024] = "";
	const struct frame *frame;
	struct record *record;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(LINES); i++)
		strcat(text, LINES[i].line);
	write_file(path, text, strlen(text));
	record = open_one();
	for (size_t i = 0; i < ARRAY_SIZE(LINES); i++) {
		assert_int_equal(record_next(record, &frame), 1);
		assert_int_equal(record_run(record), LINES[i].run);
	}
	record_close(record);
}

static void several_files_are_one_recording(void **state)
{
	const char *const paths[] = {path, other_path};
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, "{\"timestamp\":1,\"sample\":0}\n", 27);
	write_file(other_path, "{\"timestamp\":2,\"sample\":1}\n", 27);
	record = open_all(paths, 2);
	assert_int_equal(record_next(record, &frame), 1);
	assert_int_equal(record_next(record, &frame), 1);
	assert_int_equal(record_run(record), 1);
	assert_true(frame->sample->elapsed_secs == 1);
	assert_int_equal(record_next(record, &frame), 0);
	record_close(record);
}

/* Writes rows of a layout that have only a time and one number, the whole seconds of the time. */
static void write_csv(const char *to, enum csv_layout_id layout, enum row_kind kind, size_t offset,
		      const double *times)
{
	const struct csv_layout *columns = &CSV_LAYOUT[layout];
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

	CSV_FORMAT.begin(&text, &(struct format_options){.header = true, .layout = columns->name});
	for (; *times > 0; times++) {
		buffer_printf(&text, "%.3f", *times);
		for (size_t i = 1; i < columns->column_count; i++)
			if (columns->columns[i].kind == kind && columns->columns[i].offset == offset)
				buffer_printf(&text, ",%d", (int)*times);
			else
				buffer_add_char(&text, ',');
		buffer_add_char(&text, '\n');
	}
	write_file(to, text.data, text.length);
}

/* The samples of a machine and those of a job that are less than one interval apart are one; the others stand alone. */
static void two_csv_files_are_read_side_by_side(void **state)
{
	static const double MACHINE[] = {10, 11, 12, 13, 0}, JOB[] = {8.5, 10.75, 11.25, 14.25, 0};
	static const struct {
		double time;
		int64_t processes, children; /* -1: unknown */
	} WANTED[] = {{8.5, -1, 8}, {10, 10, 10}, {11, 11, 11}, {12, 12, -1}, {13, 13, -1}, {14.25, -1, 14}};
	const char *const orders[2][2] = {{path, other_path}, {other_path, path}};

	(void)state;
	write_csv(path, CSV_LAYOUT_system, ROW_host_cpu, offsetof(struct host_cpu_row, process_count),
		  MACHINE);
	write_csv(other_path, CSV_LAYOUT_process, ROW_tree, offsetof(struct tree_row, process_child_count),
		  JOB);
	for (size_t order = 0; order < 2; order++) {
		struct record *record = open_all(orders[order], 2);
		const struct frame *frame;

		for (size_t i = 0; i < ARRAY_SIZE(WANTED); i++) {
			const struct host_cpu_row *host;
			const struct tree_row *tree;

			assert_int_equal(record_next(record, &frame), 1);
			host = FIRST(frame, host_cpu);
			tree = FIRST(frame, tree);
			assert_true(frame->sample->timestamp == WANTED[i].time);
			assert_true(WANTED[i].processes < 0 ? !host || count_absent(host->process_count)
							    : host->process_count == WANTED[i].processes);
			assert_true(WANTED[i].children < 0 ? !tree || count_absent(tree->process_child_count)
							   : tree->process_child_count == WANTED[i].children);
		}
		assert_int_equal(record_next(record, &frame), 0);
		assert_int_equal(record_run(record), 1);
		record_close(record);
	}
}

/* Two files of machines, or of jobs, follow one another. */
static void csv_files_of_one_kind_follow_each_other(void **state)
{
	static const double EARLIER[] = {10, 11, 0}, LATER[] = {12, 13, 0};
	const char *const paths[] = {path, other_path};
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_csv(path, CSV_LAYOUT_process, ROW_tree, offsetof(struct tree_row, process_child_count),
		  EARLIER);
	write_csv(other_path, CSV_LAYOUT_process, ROW_tree, offsetof(struct tree_row, process_child_count),
		  LATER);
	record = open_all(paths, 2);
	for (int i = 10; i < 14; i++) {
		assert_int_equal(record_next(record, &frame), 1);
		assert_int_equal(FIRST(frame, tree)->process_child_count, i);
	}
	assert_int_equal(record_next(record, &frame), 0);
	record_close(record);
}

static void first_bad_line_is_that_of_the_first_file_with_one(void **state)
{
	static const char FIRST_FILE[] = "{\"timestamp\":1}\n{\"timestamp\":2}\nno sample\nno sample\n",
			  SECOND_FILE[] = "{\"timestamp\":3}\nno sample\n";
	const char *const paths[] = {path, other_path};
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, FIRST_FILE, sizeof FIRST_FILE - 1);
	write_file(other_path, SECOND_FILE, sizeof SECOND_FILE - 1);
	record = open_all(paths, 2);
	while (record_next(record, &frame) > 0)
		;
	assert_int_equal(record_damage(record).bad_lines, 3);
	assert_int_equal(record_damage(record).first_bad_line, 3);
	record_close(record);
}

static void a_line_that_is_too_long_is_one_bad_line(void **state)
{
	size_t length = 9 << 20;
	char *bytes = malloc(length);
	const struct frame *frame;
	struct record *record;

	(void)state;
	memset(bytes, 'x', length);
	memcpy(bytes, "{\"timestamp\":1}\n", 16);
	memcpy(bytes + length - 17, "\n{\"timestamp\":2}\n", 17);
	write_file(path, bytes, length);
	free(bytes);
	record = open_one();
	assert_int_equal(record_next(record, &frame), 1);
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(frame->sample->timestamp == 2);
	assert_int_equal(record_next(record, &frame), 0);
	assert_int_equal(record_damage(record).bad_lines, 1);
	record_close(record);
}

/* --static-once: names and limits are in the first sample and wherever they change. */
static void values_left_out_by_static_once_are_as_before(void **state)
{
	static const char TEXT[] =
		"{\"timestamp\":1,\"host\":\"a\",\"job_name\":\"j\",\"cpu\":{\"process_cpu_source\":"
		"\"clock\"},"
		"\"limits\":{\"cpu_limit_cores\":2.0},\"disk\":[{\"device\":\"sda\",\"model\":\"A\"},"
		"{\"device\":\"sdb\",\"model\":\"B\",\"read_bytes_per_sec\":1.0}]}\n"
		"{\"timestamp\":2,\"cpu\":{},\"limits\":{},\"disk\":[{\"device\":\"sdb\"}]}\n"
		"{\"timestamp\":3,\"cpu\":{},\"limits\":{},\"disk\":[{\"device\":\"sdb\"},{\"device\":"
		"\"sdc\"}]}\n"
		"{\"timestamp\":4,\"job_name\":\"j\",\"limits\":{\"cpu_limit_cores\":null},\"disk\":[]}\n";
	const struct frame *frame;
	struct record *record;

	(void)state;
	write_file(path, TEXT, strlen(TEXT));
	record = open_one();
	assert_int_equal(record_next(record, &frame), 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(record_next(record, &frame), 1);
		assert_string_equal(frame->sample->host, "a");
		assert_true(FIRST(frame, limits)->cpu_limit_cores == 2);
		assert_string_equal(FIRST(frame, tree)->process_cpu_source, "clock");
		assert_string_equal(FIRST(frame, disk)->model, "B");
		assert_true(real_absent(FIRST(frame, disk)->read_bytes_per_sec));
	}
	assert_true(text_absent(NEXT(FIRST(frame, disk), disk)->model));
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(real_absent(FIRST(frame, limits)->cpu_limit_cores));
	assert_true(text_absent(frame->sample->host));
	record_close(record);
}

/* Adds a line whose values, rows and names depend on `random`: of a few forms, some of them brief, some damaged. */
static void add_random_line(struct buffer *out, int sample, uint32_t random)
{
	static const char *const DISKS[] = {
		"", "{\"device\":\"sdb\"}",
		"{\"device\":\"sda\",\"model\":\"A\"},{\"device\":\"sdb\",\"model\":\"B\"}",
		"{\"device\":\"sdb\",\"model\":null},{\"device\":\"sda\"}"};
	bool brief = random >> 4 & 1;

	if (random >> 8 & 1)
		random &= ~UINT32_C(15);
	buffer_printf(out,
		      "{\"timestamp\":%d%s,\"sample\":%d,%s\"cpu\":{\"process_cores_used\":%u.%02u,\"process_"
		      "child_count\":%u%s},",
		      sample, random >> 20 & 63 ? ".5" : "e99", sample,
		      brief ? "" : "\"host\":\"a\",\"job_name\":\"j\",", random >> 20, random >> 12 & 63,
		      random >> 16 & 255, brief ? "" : ",\"process_cpu_source\":\"clock\"");
	buffer_printf(out, "\"limits\":{%s},\"disk\":[%s]%s\n", brief ? "" : "\"cpu_limit_cores\":2.0",
		      DISKS[random & 3], (random & 12) == 12 && random >> 28 == 0 ? "" : "}");
}

static void assert_same_sample(struct record *one, struct record *other)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 20), other_text = BUFFER(1 << 20);
	const struct frame *frame, *other_frame;
	int result = record_next(other, &other_frame);

	assert_int_equal(record_next(one, &frame), result);
	assert_int_equal(record_run(one), record_run(other));
	if (result == 1) {
		write_frame_json(&text, frame, false);
		write_frame_json(&other_text, other_frame, false);
		assert_string_equal(text.data, other_text.data);
	}
}

/* A record that follows its file decodes each line. */
static void lines_that_are_compared_give_the_samples_of_those_that_are_decoded(void **state)
{
	enum { LINES = 20000 };
	CLEANUP_BUFFER struct buffer text = BUFFER(16 << 20);
	struct record_options options = {.follows = true};
	const char *paths[] = {path};
	struct record *record, *decoding;
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < LINES; i++) {
		random = random * 1103515245 + 12345;
		add_random_line(&text, i % 3000, random);
	}
	write_file(path, text.data, text.length);
	metric_set_add_all(&options.wanted);
	assert_int_equal(record_open(paths, 1, &options, &decoding, NULL), 0);
	record = open_one();
	for (int i = 0; i < LINES + 1; i++)
		assert_same_sample(record, decoding);
	assert_true(record_damage(record).bad_lines > 10);
	record_close(record);
	record_close(decoding);
}

static void lines_of_two_forms_are_both_remembered(void **state)
{
	enum { LINES = 100 };
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 20);
	struct metric_set wanted = {0};
	struct line_decoder decoder = {0};
	struct record_file file;
	struct frame frame = {0};

	(void)state;
	for (int i = 0; i < LINES; i++)
		buffer_printf(&text, "{\"timestamp\":%d,\"limits\":{\"cpu_limit_cores\":%d}%s}\n", i, i,
			      i % 3 ? "" : ",\"gpu\":[{\"index\":0}]");
	write_file(path, text.data, text.length);
	metric_set_add_all(&wanted);
	json_decoder_init(&decoder.json, &wanted);
	same_line_begin(&decoder.same, &decoder.json);
	same_line_begin(&decoder.previous_same, &decoder.json);
	assert_int_equal(record_file_open(&file, path, false, NULL), 0);
	for (int i = 0; i < LINES; i++) {
		assert_int_equal(record_file_next(&file, &decoder, &frame), 1);
		assert_true(FIRST(&frame, limits)->cpu_limit_cores == i);
		assert_true(!FIRST(&frame, gpu) == !!(i % 3));
	}
	assert_int_equal(decoder.same.lines + decoder.previous_same.lines, LINES - 2);
	record_file_close(&file);
	same_line_done(&decoder.same, &decoder.json);
	same_line_done(&decoder.previous_same, &decoder.json);
	json_decoder_done(&decoder.json);
	frame_done(&frame);
	frame_done(&decoder.previous);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_restores_written_samples),
		cmocka_unit_test(gzip_members_follow_each_other),
		cmocka_unit_test(damage_is_counted_and_the_rest_is_read),
		cmocka_unit_test(a_cut_off_gzip_gives_its_whole_lines),
		cmocka_unit_test(reader_fills_only_the_wanted_metrics),
		cmocka_unit_test(later_and_earlier_schemas_are_read),
		cmocka_unit_test(every_csv_layout_comes_back_in_the_units_of_the_catalogue),
		cmocka_unit_test(ticks_are_recognised),
		cmocka_unit_test(unfinished_and_odd_csv_lines_are_counted),
		cmocka_unit_test(reader_refuses_other_files_in_one_line),
		cmocka_unit_test(a_file_without_any_sample_is_an_error),
		cmocka_unit_test(runs_and_hosts_are_told_apart),
		cmocka_unit_test(a_run_goes_on_behind_a_repeated_start),
		cmocka_unit_test(several_files_are_one_recording),
		cmocka_unit_test(two_csv_files_are_read_side_by_side),
		cmocka_unit_test(csv_files_of_one_kind_follow_each_other),
		cmocka_unit_test(first_bad_line_is_that_of_the_first_file_with_one),
		cmocka_unit_test(a_line_that_is_too_long_is_one_bad_line),
		cmocka_unit_test(values_left_out_by_static_once_are_as_before),
		cmocka_unit_test(lines_of_two_forms_are_both_remembered),
		cmocka_unit_test(lines_that_are_compared_give_the_samples_of_those_that_are_decoded),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
