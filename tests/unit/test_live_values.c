/* Tests of src/live: how a sample becomes values, a run and words, and what keys do with its time. */
#include "live_screen.h"

#include <wchar.h>

#include "live/expected.h"

/* ---- words ------------------------------------------------------------------------------------------- */

static void figures_have_three_digits(void **state)
{
	char text[NUMBER_BYTES];

	(void)state;
	assert_string_equal(figure_text(NAN, text), "-");
	assert_string_equal(figure_text(0, text), "0.00");
	assert_string_equal(figure_text(-0.004, text), "< 0.01");
	assert_string_equal(figure_text(0.006, text), "0.01");
	assert_string_equal(figure_text(9.994, text), "9.99");
	assert_string_equal(figure_text(9.996, text), "10.0");
	assert_string_equal(figure_text(99.96, text), "100");
	assert_string_equal(figure_text(10, text), "10.0");
	assert_string_equal(figure_text(-20.04, text), "-20.0");
	assert_string_equal(figure_text(100, text), "100");
	assert_string_equal(percent_text(NAN, text), "-");
	assert_string_equal(percent_text(0.126, text), "13 %");
	assert_string_equal(time_text(NAN, text), "-");
	assert_string_equal(time_text(0, text), "0 s");
	assert_string_equal(time_text(90, text), "1 min 30 s");
}

static void amounts_have_the_unit_that_the_user_chose(void **state)
{
	static const struct {
		enum view_unit unit;
		double bytes;
		const char *wanted;
	} RATES[] = {{UNIT_DECIMAL, 999, "999 B/s"},
		     {UNIT_DECIMAL, 999.5, "1.00 kB/s"},
		     {UNIT_DECIMAL, 999.4e3, "999 kB/s"},
		     {UNIT_DECIMAL, 999.5e3, "1.00 MB/s"},
		     {UNIT_DECIMAL, 999.4e6, "999 MB/s"},
		     {UNIT_DECIMAL, 999.5e6, "1.00 GB/s"},
		     {UNIT_DECIMAL, 999.4e9, "999 GB/s"},
		     {UNIT_DECIMAL, 999.5e9, "1.00 TB/s"},
		     {UNIT_BINARY, 1536, "1.50 KiB/s"},
		     {UNIT_BINARY, 0, "0"},
		     {UNIT_MIB, 104228454.4, "99.4 MiB/s"},
		     {UNIT_MIB, 104333312, "100 MiB/s"},
		     {UNIT_BINARY, NAN, "-"}};
	char text[NUMBER_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof RATES / sizeof *RATES; i++) {
		view.unit = RATES[i].unit;
		assert_string_equal(rate_text(&view, RATES[i].bytes, text), RATES[i].wanted);
	}
	view.unit = UNIT_BINARY;
	assert_string_equal(memory_text(&view, 2048, text), "2.00 GiB");
	assert_string_equal(scale_text(&view, 2048 * 1048576.0, false, text), "2 GiB");
	assert_string_equal(scale_text(&view, 1024, true, text), "1 KiB/s");
	assert_string_equal(scale_text(&view, 1536, true, text), "1.50 KiB/s");
	assert_string_equal(scale_text(&view, 512, true, text), "512 B/s");
}

static const char *usually(size_t count, const double *secs, double elapsed_secs, bool goes_on)
{
	static char text[EXPECTED_BYTES];
	struct usual_time usual = {.count = count};

	memcpy(usual.secs, secs, count * sizeof(*secs));
	return expected_text(&usual, elapsed_secs, goes_on, text);
}

static void expected_end_is_as_exact_as_it_may_be(void **state)
{
	static const struct {
		double secs;
		const char *wanted;
	} TIMES[] = {{99.4, "usually 99 s"},  {99.5, "usually 2 min"},    {5969, "usually 99 min"},
		     {5970, "usually 1.7 h"}, {172799, "usually 48.0 h"}, {172800, "usually 2.0 d"}};
	static const double CLOSE[] = {90, 96, 110, 120}, APART[] = {90, 96, 110, 121};

	(void)state;
	for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
		assert_string_equal(usually(1, &TIMES[i].secs, 0, false), TIMES[i].wanted);
	/* A quarter and three quarters of four runs are the second and the last. 96 x 1.25 = 120. */
	assert_string_equal(usually(4, CLOSE, 0, false), "usually 2 min");
	assert_string_equal(usually(4, APART, 0, false), "usually 96 s to 2 min");
	/* The middle one of those that took longer. */
	assert_string_equal(usually(4, CLOSE, 10, true), "usually 2 min, about 86 s left");
	assert_string_equal(usually(4, CLOSE, 92, true), "usually 2 min, about 18 s left");
	assert_string_equal(usually(4, CLOSE, 110, true), "usually 2 min, about 0 s left");
	assert_string_equal(usually(4, CLOSE, 112, true),
			    "usually 2 min, about 8 s left; slower than 3 of 4 runs");
	assert_string_equal(usually(4, CLOSE, 121, true), "usually 2 min; slower than all 4 runs");
}

/* ---- canvas ------------------------------------------------------------------------------------------ */

static void assert_cells(size_t row, const uint32_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(canvas.cells[row * canvas.columns + i].character, wanted[i]);
}

#define ASSERT_CELLS(row, ...) \
	assert_cells(row, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void canvas_takes_only_its_own_cells(void **state)
{
	(void)state;
	assert_int_equal(canvas_begin(&canvas, 2, 4), 0);
	canvas_put(&canvas, 0, 4, 'x', LOOK_BAD);
	canvas_put(&canvas, 2, 0, 'x', LOOK_BAD);
	canvas_put(&canvas, 1, 3, 'y', LOOK_GOOD);
	ASSERT_CELLS(0, ' ', ' ', ' ', ' ', ' ', ' ', ' ', 'y');
	canvas_look(&canvas, 1, 1, 2, LOOK_CHOSEN);
	canvas_look(&canvas, 0, 3, 9, LOOK_FAINT);
	canvas_look(&canvas, 2, 0, 1, LOOK_FAINT);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(canvas.cells[i].look, i == 3             ? LOOK_FAINT
						       : i == 5 || i == 6 ? LOOK_CHOSEN
						       : i == 7           ? LOOK_GOOD
									  : LOOK_PLAIN);
	canvas_text_right(&canvas, 0, 1, 3, LOOK_PLAIN, "ab");
	ASSERT_CELLS(0, ' ', ' ', 'a', 'b');
	canvas_text_right(&canvas, 0, 0, 4, LOOK_PLAIN, "abcd");
	ASSERT_CELLS(0, 'a', 'b', 'c', 'd', ' ');
	canvas_text_right(&canvas, 0, 0, 4, LOOK_PLAIN, "vwxyz");
	ASSERT_CELLS(0, 'v', 'w', 'x', '+', ' ');
	assert_int_equal(canvas_text(&canvas, 1, 0, 0, LOOK_PLAIN, "ab"), 0);
	ASSERT_CELLS(1, ' ');
}

static void a_row_is_another_by_a_character_a_look_or_its_size(void **state)
{
	struct canvas shown = {0};

	(void)state;
	assert_int_equal(canvas_begin(&canvas, 2, 3), 0);
	assert_false(canvas_row_is(&canvas, &shown, 0));
	assert_int_equal(canvas_begin(&shown, 2, 3), 0);
	canvas_put(&shown, 0, 0, 'x', LOOK_PLAIN);
	assert_false(canvas_row_is(&canvas, &shown, 0));
	assert_true(canvas_row_is(&canvas, &shown, 1));
	canvas_put(&canvas, 0, 0, 'x', LOOK_PLAIN);
	assert_true(canvas_row_is(&canvas, &shown, 0));
	canvas_look(&shown, 1, 2, 1, LOOK_CURSOR);
	assert_true(canvas_row_is(&canvas, &shown, 0));
	assert_false(canvas_row_is(&canvas, &shown, 1));
	assert_int_equal(canvas_begin(&shown, 3, 3), 0);
	assert_false(canvas_row_is(&canvas, &shown, 1));
	assert_int_equal(canvas_begin(&shown, 2, 4), 0);
	assert_false(canvas_row_is(&canvas, &shown, 1));
	canvas_done(&shown);
}

static void text_takes_the_columns_of_its_characters(void **state)
{
	(void)state;
	assert_int_equal(canvas_begin(&canvas, 1, 6), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 6, LOOK_PLAIN, "a\u00e9\u2581"), 3);
	ASSERT_CELLS(0, 'a', 0xe9, 0x2581, ' ');
	if (wcwidth(L'\u65e5') != 2)
		return; /* this locale has no wide characters */
	assert_int_equal(text_columns("\u65e5\u672cx"), 5);
	assert_int_equal(text_columns("e\u0301"), 1);
	assert_int_equal(canvas_text(&canvas, 0, 0, 6, LOOK_CPU, "\u65e5e\u0301\U0001f600"), 5);
	ASSERT_CELLS(0, 0x65e5, 0, 'e', 0x1f600, 0, ' ');
	assert_int_equal(canvas.cells[1].look, LOOK_CPU);
	/* A mark has room behind a wide one, or stands in its place. */
	assert_int_equal(canvas_text(&canvas, 0, 0, 3, LOOK_PLAIN, "\u65e5\u672c"), 3);
	ASSERT_CELLS(0, 0x65e5, 0, '+');
	assert_int_equal(canvas_text(&canvas, 0, 0, 2, LOOK_PLAIN, "\u65e5\u672c"), 1);
	ASSERT_CELLS(0, '+');
}

/* ---- values of a sample ------------------------------------------------------------------------------ */

static const struct moment *newest(void)
{
	return &run.timeline.moments[run.timeline.count - 1];
}

static void amounts_of_an_interval_become_rates(void **state)
{
	static const double BUSY[] = {-1, 0, 49.6, 100, 101};
	static const uint8_t WANTED[] = {0, 0, 50, 100, 100};
	struct program_row *program;

	(void)state;
	sample_at(2);
	frame.sample->actual_interval_ms = 2000;
	SINGLE_ROW(&frame, tree)->process_disk_read_bytes = 4096;
	SINGLE_ROW(&frame, tree)->process_child_count = 7;
	SINGLE_ROW(&frame, cgroup)->throttled_secs = 0.5;
	SINGLE_ROW(&frame, host_cpu);
	for (size_t i = 0; i < sizeof WANTED; i++)
		ADD_ROW(&frame, cpu_core, frame.first[ROW_host_cpu])->busy_pct = BUSY[i];
	program = ADD_ROW(&frame, program, NULL);
	program->cpu_secs = 3;
	program->memory_mib = 10;
	program->disk_write_bytes = 100;
	give(&run);
	assert_true(newest()->step_secs == 2);
	assert_true(newest()->values[SERIES_JOB_READ] == 2048);
	assert_true(newest()->values[SERIES_JOB_CHILDREN] == 7);
	assert_true(newest()->values[SERIES_THROTTLED] == 0.25);
	assert_true(newest()->details[0].numbers[PROGRAM_CPU] == 1.5f);
	assert_true(newest()->details[0].numbers[PROGRAM_MEMORY] == 10);
	assert_true(newest()->details[0].numbers[PROGRAM_WRITTEN] == 50);
	assert_true(isnan(newest()->details[0].numbers[PROGRAM_READ]));
	assert_memory_equal(newest()->cores, WANTED, sizeof WANTED);
	/* Without an interval, no rate is known, and the time has no length. */
	sample_at(3);
	frame.sample->actual_interval_ms = 0;
	SINGLE_ROW(&frame, tree)->process_disk_read_bytes = 4096;
	SINGLE_ROW(&frame, tree)->process_cores_used = INFINITY;
	give(&run);
	assert_true(isnan(newest()->values[SERIES_JOB_READ]));
	assert_true(isnan(newest()->values[SERIES_JOB_CPU]));
	assert_int_equal(newest()->core_count, 0);
}

static void devices_have_their_numbers(void **state)
{
	struct network_row *network;
	struct mount_row *mount;

	(void)state;
	sample_at(1);
	frame.sample->tracked_pid = no_count(ABSENT_NOT_TRACKED);
	network = ADD_ROW(&frame, network, NULL);
	network->interface = "eth0";
	network->rx_bytes_per_sec = 1024;
	network->tx_bytes_per_sec = 2048;
	mount = ADD_ROW(&frame, mount, NULL);
	mount->mount_point = "/scratch";
	mount->used_bytes = INT64_C(3) << 30;
	mount->total_bytes = INT64_C(4) << 30;
	mount->used_pct = 75;
	give(&run);
	assert_shows(" INTERFACE                                               RECEIVED          SENT\n"
		     " eth0                                                  1.00 KiB/s    2.00 KiB/s\n"
		     " FILE SYSTEM                                          USED            OF   FULL\n"
		     " /scratch                                         3.00 GiB      4.00 GiB   75 %\n");
}

static void merged_moments_have_means_peaks_and_the_last_count(void **state)
{
	struct moment first = {.end_secs = 1, .step_secs = 1}, next = {.end_secs = 4, .step_secs = 3};

	(void)state;
	first.values[SERIES_JOB_CPU] = 1;
	next.values[SERIES_JOB_CPU] = 3;
	first.values[SERIES_JOB_MEMORY] = 8;
	next.values[SERIES_JOB_MEMORY] = 2;
	first.values[SERIES_JOB_CHILDREN] = 9;
	next.values[SERIES_JOB_CHILDREN] = 4;
	first.values[SERIES_HOST_CPU] = NAN;
	next.values[SERIES_HOST_CPU] = 5;
	first.values[SERIES_HOST_MEMORY] = 6;
	next.values[SERIES_HOST_MEMORY] = NAN;
	first.values[SERIES_HOST_LOAD] = 7;
	next.values[SERIES_HOST_LOAD] = NAN;
	moment_merge(&first, &next);
	assert_true(first.values[SERIES_JOB_CPU] == 2.5);
	assert_true(first.values[SERIES_JOB_MEMORY] == 8);
	assert_true(first.values[SERIES_JOB_CHILDREN] == 4);
	assert_true(first.values[SERIES_HOST_CPU] == 5);
	assert_true(first.values[SERIES_HOST_MEMORY] == 6);
	assert_true(first.values[SERIES_HOST_LOAD] == 7);
	assert_true(first.step_secs == 4 && first.end_secs == 4);
}

/* ---- the run ----------------------------------------------------------------------------------------- */

static void end_run(int64_t exit_code, int64_t signal, const char *reason, const char *wanted,
		    enum run_state state)
{
	struct run_end_row *row;

	frame_begin(&identity, 0, 0);
	row = SINGLE_ROW(&identity, run_end);
	if (exit_code >= 0)
		row->exit_code = exit_code;
	if (signal)
		row->signal = signal;
	row->reason = reason;
	give_job(&run, 1, 1, 400);
	assert_string_equal(run.outcome, wanted);
	assert_int_equal(run.state, state);
}

static void outcome_of_a_run_is_that_of_its_job(void **state)
{
	(void)state;
	end_run(0, 0, "exit", "succeeded", RUN_SUCCEEDED);
	end_run(3, 0, "exit", "failed with exit status 3", RUN_FAILED);
	end_run(137, 0, "oom_kill_suspected", "failed with exit status 137, out of memory", RUN_FAILED);
	end_run(-1, 9, "oom_kill_confirmed", "killed by SIGKILL, out of memory", RUN_FAILED);
	end_run(-1, 9, "signal", "killed by SIGKILL", RUN_FAILED);
	end_run(-1, 0, "target_exited", "process has ended", RUN_STOPPED);
	end_run(-1, 0, "stopped", "recording has ended", RUN_STOPPED);
	assert_shows("recording has ended after");
}

static void lost_run_goes_on_with_its_next_sample(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 1);
	run_lose(&run, "gone");
	run_lose(&run, "gone twice");
	assert_shows("gone after 1.00 s");
	assert_int_equal(run.state, RUN_LOST);
	give_job(&run, 2, 1, 1);
	assert_int_equal(run.state, RUN_GOES_ON);
	assert_string_equal(run.outcome, "");
}

static double peak_at_end(const char *source, double peak_mib)
{
	frame_begin(&identity, 0, 0);
	SINGLE_ROW(&identity, run_end)->memory_peak_source = source;
	SINGLE_ROW(&identity, run_end)->memory_peak_mib = peak_mib;
	give_job(&run, 1, 1, 400);
	return run.memory_peak_mib;
}

static void peak_that_counts_pages_more_than_once_is_that_of_the_samples(void **state)
{
	(void)state;
	assert_true(peak_at_end("rss", 900) == 400);
	assert_true(peak_at_end("rss", 300) == 300);
	assert_true(peak_at_end("cgroup", 900) == 900);
	assert_shows("peak 900 MiB");
	assert_true(isnan(peak_at_end("cgroup", INFINITY)));
	assert_shows("max 400 MiB");
}

static void assert_run_name(const char *wanted)
{
	run_begin(&other, "given", 0, 0);
	sample_at(1);
	frame.sample->job_name = *wanted == 'j' ? "job" : "";
	SINGLE_ROW(&frame, tree);
	give(&other);
	assert_string_equal(other.name, wanted);
	run_done(&other);
}

static void run_has_the_best_name_that_is_known(void **state)
{
	struct run_start_row *start;

	(void)state;
	assert_run_name("given");
	start = SINGLE_ROW(&identity, run_start);
	start->mode = "host";
	assert_run_name("node-1");
	start->executable = "exe";
	assert_run_name("exe");
	start->program = "program";
	assert_run_name("program");
	assert_run_name("job");
}

static void limits_are_the_smallest_that_hold(void **state)
{
	struct moment moment = {.core_count = 16};

	(void)state;
	for (size_t i = 0; i < SERIES_COUNT; i++)
		moment.values[i] = NAN;
	assert_true(run_core_limit(&run, &moment, false) == 16);
	assert_true(run_core_limit(&run, &moment, true) == 16);
	run.cpu_count = 8;
	assert_true(run_core_limit(&run, &moment, false) == 8);
	assert_true(run_core_limit(&run, &moment, true) == 8);
	moment.values[SERIES_LIMIT_CPUS] = 6;
	assert_true(run_core_limit(&run, &moment, false) == 6);
	moment.values[SERIES_LIMIT_CORES] = 2.5;
	assert_true(run_core_limit(&run, &moment, false) == 2.5);
	assert_true(run_core_limit(&run, &moment, true) == 8);
	assert_true(isnan(run_memory_limit(&run, &moment, false)));
	run.memory_total_mib = 100;
	assert_true(run_memory_limit(&run, &moment, false) == 100);
	moment.values[SERIES_HOST_MEMORY_TOTAL] = 90;
	moment.values[SERIES_LIMIT_MEMORY] = 50;
	assert_true(run_memory_limit(&run, &moment, false) == 50);
	assert_true(run_memory_limit(&run, &moment, true) == 90);
}

/* ---- keys and time ----------------------------------------------------------------------------------- */

static void assert_view_span(double from_secs, double to_secs)
{
	struct span span = view_span(&view, &run);

	assert_true(fabs(span.from_secs - from_secs) < 1e-6);
	assert_true(fabs(span.to_secs - to_secs) < 1e-6);
}

static void give_samples(int first, int last)
{
	for (int i = first; i <= last; i++)
		give_job(&run, i, 1, 100);
}

static void span_has_enough_samples(void **state)
{
	static const struct {
		double interval_secs, wanted_secs;
	} SPANS[] = {{1, 60}, {1.5, 300}, {5, 300}, {6, 900}, {60, 3600}, {61, 21600}, {1000, 21600}};

	(void)state;
	give_samples(1, 1);
	for (size_t i = 0; i < sizeof SPANS / sizeof *SPANS; i++) {
		run.interval_secs = SPANS[i].interval_secs;
		assert_view_span(1 - SPANS[i].wanted_secs, 1);
	}
}

static void zoom_leaves_out_spans_that_look_the_same(void **state)
{
	(void)state;
	give_samples(1, 100);
	for (int i = 0; i < 9; i++)
		view_press(&view, '+');
	assert_view_span(40, 100);
	for (int i = 0; i < 9; i++)
		view_press(&view, '-');
	assert_view_span(0, 100);
	view_press(&view, '=');
	assert_view_span(100 - 21600, 100);
	view.zoom = 0;
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_samples(101, 101);
	assert_view_span(0, 101);
	view_press(&view, '+');
	assert_view_span(41, 101);
	view_press(&view, '-');
	assert_view_span(0, 101);
}

/* No span is shorter than a run that has ended after half a minute. */
static void zoom_of_a_short_run_stays(void **state)
{
	(void)state;
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_samples(1, 30);
	view_press(&view, '+');
	assert_view_span(0, 30);
	timeline_clear(&run.timeline);
	sample_at(5);
	frame.sample->actual_interval_ms = 0;
	give(&run);
	assert_view_span(5, 6);
}

static void assert_looked_at(uint32_t key, double wanted_secs)
{
	view_press(&view, key);
	assert_true(view_at(&view, &run) == wanted_secs);
}

static void keys_go_by_points_of_the_graph(void **state)
{
	(void)state;
	give_samples(1, 100);
	assert_looked_at(KEY_OF_PAGE_UP, 90);
	assert_looked_at(KEY_OF_PAGE_UP, 80);
	assert_looked_at(KEY_OF_RIGHT, 81);
	assert_looked_at(KEY_OF_PAGE_DOWN, 91);
	assert_looked_at(KEY_OF_PAGE_DOWN, 100);
	assert_true(isnan(view.at_secs)); /* the newest, which moves */
	/* Five minutes have 120 steps of 2.5 s. The moment that holds a time ends at it or behind it. */
	view_press(&view, '-');
	assert_looked_at(KEY_OF_LEFT, 98);
	assert_looked_at(KEY_OF_HOME, 1);
	assert_looked_at(KEY_OF_LEFT, 1);
	/* At the end of a run that has ended, the last sample stays. */
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_samples(101, 101);
	assert_looked_at(KEY_OF_END, 101);
	assert_looked_at(KEY_OF_LEFT, 99);
	assert_looked_at(KEY_OF_PAGE_DOWN, 101);
	assert_true(view.at_secs == 101);
	assert_shows("at 1 min 41 s  22:15:01");
	assert_lacks("paused");
}

static void keys_of_the_list_stay_out_of_time(void **state)
{
	(void)state;
	give_samples(1, 9);
	view.lists = true;
	view_press(&view, KEY_OF_LEFT);
	view_press(&view, ' ');
	assert_true(isnan(view.at_secs));
	view_press(&view, KEY_OF_ENTER);
	assert_false(view.lists);
	view_press(&view, KEY_OF_BACK);
	assert_false(view.lists); /* the view was opened without a list */
	view.style_most = GRAPH_BLOCKS;
	view_press(&view, 'g');
	assert_int_equal(view.style, GRAPH_BLOCKS);
	view_press(&view, 'g');
	assert_int_equal(view.style, GRAPH_ASCII);
	for (int i = 0; i < VIEW_SORTS; i++)
		view_press(&view, 's');
	assert_int_equal(view.sort, SORT_CPU);
	view_press(&view, 'Q');
	assert_true(view.quits);
}

/* ---- GPUs -------------------------------------------------------------------------------------------- */

static void give_starving(int secs, double use, double io_share, const char *source)
{
	struct gpu_row *gpu;

	sample_at(secs);
	SINGLE_ROW(&frame, tree)->process_cores_used = 0.25;
	SINGLE_ROW(&frame, tree)->process_gpu_usage = use;
	SINGLE_ROW(&frame, pressure)->io_some_secs = io_share;
	SINGLE_ROW(&frame, pressure)->source = source;
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->process_utilization_pct = 100 * use;
	gpu->process_vram_bytes = 1;
	give(&run);
}

static void starving_gpus_stand_beside_the_waits_for_storage(void **state)
{
	(void)state;
	for (int i = 1; i <= 4; i++)
		give_starving(i, 0.5, 0.4, "cgroup");
	assert_lacks(" GPUs  ");
	give_starving(5, 0.5, 0.4, "cgroup");
	assert_non_null(strstr(draw(24, 103),
			       " GPUs      worked 50 % of the last 5.00 s while the job used 0.25 "
			       "cores; waited for I/O 40 %\n"));
	for (int i = 6; i <= 70; i++)
		give_starving(i, 0.5, 0.4, "cgroup");
	assert_non_null(strstr(draw(24, 103), "of the last 1 min while"));
	/* GPUs that work enough starve of nothing. */
	for (int i = 71; i <= 140; i++)
		give_starving(i, 0.75, 0.4, "cgroup");
	assert_lacks(" GPUs  ");
}

static void pressure_of_the_machine_explains_no_wait(void **state)
{
	(void)state;
	for (int i = 1; i <= 9; i++)
		give_starving(i, 0.5, 0.4, "host");
	assert_lacks(" GPUs  ");
	assert_shows("I/O 40 %   of the machine\n");
	for (int i = 10; i <= 80; i++)
		give_starving(i, 0.5, 0.25, "cgroup");
	assert_lacks(" GPUs  ");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(figures_have_three_digits),
		TEST(amounts_have_the_unit_that_the_user_chose),
		TEST(expected_end_is_as_exact_as_it_may_be),
		TEST(canvas_takes_only_its_own_cells),
		TEST(a_row_is_another_by_a_character_a_look_or_its_size),
		TEST(text_takes_the_columns_of_its_characters),
		TEST(amounts_of_an_interval_become_rates),
		TEST(devices_have_their_numbers),
		TEST(merged_moments_have_means_peaks_and_the_last_count),
		TEST(outcome_of_a_run_is_that_of_its_job),
		TEST(lost_run_goes_on_with_its_next_sample),
		TEST(peak_that_counts_pages_more_than_once_is_that_of_the_samples),
		TEST(run_has_the_best_name_that_is_known),
		TEST(limits_are_the_smallest_that_hold),
		TEST(span_has_enough_samples),
		TEST(zoom_leaves_out_spans_that_look_the_same),
		TEST(zoom_of_a_short_run_stays),
		TEST(keys_go_by_points_of_the_graph),
		TEST(keys_of_the_list_stay_out_of_time),
		TEST(starving_gpus_stand_beside_the_waits_for_storage),
		TEST(pressure_of_the_machine_explains_no_wait),
	};

	return cmocka_run_group_tests_name("live values", tests, NULL, NULL);
}
