/* Tests of src/live: samples go in, and the screen that they lead to is read as text. */
#include "live_screen.h"

#include "live/expected.h"

/* ---- graphs ------------------------------------------------------------------------------------------ */

static const char *graph(enum graph_style style, size_t rows, size_t columns, const double *values,
			 double most)
{
	static char text[400];
	struct buffer out = BUFFER(sizeof(text));

	assert_int_equal(canvas_begin(&canvas, rows, columns), 0);
	graph_draw(&canvas, (struct graph_place){0, 0, rows, columns}, style, LOOK_CPU, values, most,
		   SIZE_MAX);
	for (size_t i = 0; i < rows * columns; i++)
		add_character(&out, canvas.cells[i].character);
	snprintf(text, sizeof(text), "%s", out.data);
	buffer_done(&out);
	return text;
}

static void graph_shows_zero_as_a_mark_and_nothing_for_an_unknown_value(void **state)
{
	const double values[] = {0, NAN, 0.5, 1, NAN, 2, 1, 1};

	(void)state;
	assert_string_equal(graph(GRAPH_ASCII, 1, 8, values, 1), "_ :# ###");
	assert_string_equal(graph(GRAPH_BLOCKS, 1, 8, values, 1), "▁ ▄█ ███");
	assert_string_equal(graph(GRAPH_BRAILLE, 1, 4, values, 1), "⡀⣼⢸⣿");
	assert_string_equal(graph(GRAPH_ASCII, 2, 4, values, 1), "   #_ ##");
}

static void scales_end_at_round_numbers(void **state)
{
	(void)state;
	assert_float_equal(round_scale(1.2, false), 2, 0);
	assert_float_equal(round_scale(0.11, false), 0.2, 1e-12);
	assert_float_equal(round_scale(1000, false), 1000, 1e-6);
	assert_float_equal(round_scale(500, true), 512, 0);
	assert_float_equal(round_scale(512, true), 512, 0);
	assert_float_equal(round_scale(NAN, true), 1, 0);
}

/* ---- timeline ---------------------------------------------------------------------------------------- */

static void timeline_keeps_a_long_run_in_bounded_memory(void **state)
{
	double columns[10];

	(void)state;
	for (int i = 1; i <= 100000; i++)
		give_job(&run, i, i == 5000 ? 2 : 1, i == 5000 ? 400 : 100);
	assert_true(run.timeline.count <= TIMELINE_MOMENTS);
	assert_float_equal(timeline_start(&run.timeline), 0, 1e-6);
	assert_float_equal(timeline_end(&run.timeline), 100000, 0);
	/* The newest samples are as they were. */
	assert_float_equal(run.timeline.moments[run.timeline.count - 400].step_secs, 1, 1e-9);
	/* A peak of memory outlives the merging; a mean stays a mean. */
	timeline_columns(&run.timeline, SERIES_JOB_MEMORY, 0, 100000, columns, 10);
	assert_float_equal(columns[0], 400, 0);
	assert_float_equal(columns[1], 100, 0);
	timeline_columns(&run.timeline, SERIES_JOB_CPU, 0, 100000, columns, 10);
	assert_float_equal(columns[0], 1.0001, 1e-6);
	assert_float_equal(run.timeline.peaks[SERIES_JOB_CPU], 2, 0);
}

static void timeline_leaves_a_gap_empty(void **state)
{
	double columns[6];

	(void)state;
	give_job(&run, 1, 1, 1);
	give_job(&run, 2, 0.5, 1);
	give_job(&run, 5, 2, 1);
	timeline_columns(&run.timeline, SERIES_JOB_CPU, 0, 6, columns, 6);
	assert_float_equal(columns[0], 1, 0);
	assert_float_equal(columns[1], 0.5, 0);
	assert_true(isnan(columns[2]) && isnan(columns[3]));
	assert_float_equal(columns[4], 2, 0);
	assert_true(isnan(columns[5]));
}

/* ---- the screen of a run ----------------------------------------------------------------------------- */

static void run_shows_values_against_their_limits(void **state)
{
	(void)state;
	give_job(&run, 1, 0.5, 128);
	give_job(&run, 2, 1.5, 256);
	assert_shows(" CPU       1.50 of 2 cores");
	assert_shows(" Memory    256 MiB of 512 MiB");
	assert_shows("50 %");
	assert_shows("running 2.00 s");
	assert_shows("pid 42");
}

static void run_shows_unknown_values_as_a_dash(void **state)
{
	(void)state;
	sample_at(1);
	give(&run);
	run.is_machine = false;
	assert_shows(" CPU       - cores\n");
	assert_shows(" Memory    -\n");
	assert_shows(" Read      -\n");
	assert_shows("CPU -   memory -   I/O -");
	assert_shows(" PROGRAM");
	assert_lacks(" 0 ");
}

static void run_without_a_sample_waits(void **state)
{
	(void)state;
	assert_shows("waiting for the first sample");
}

static void table_is_sorted_by_each_column(void **state)
{
	const char *screen_text;

	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, tree);
	add_program("small", 0.25, 300);
	add_program("large", 1.25, 30);
	add_program("unknown", no_real(ABSENT_NOT_COLLECTED), no_real(ABSENT_NOT_COLLECTED));
	give(&run);
	screen_text = draw(24, 80);
	assert_true(strstr(screen_text, " large") < strstr(screen_text, " small"));
	assert_true(strstr(screen_text, " small") < strstr(screen_text, " unknown"));
	assert_shows("small                        0.25    300 MiB           -           -");
	view_press(&view, 's');
	screen_text = draw(24, 80);
	assert_true(strstr(screen_text, " small") < strstr(screen_text, " large"));
	view_press(&view, 'r');
	screen_text = draw(24, 80);
	assert_true(strstr(screen_text, " large") < strstr(screen_text, " small"));
	assert_true(strstr(screen_text, " small") < strstr(screen_text, " unknown"));
	view_press(&view, KEY_OF_DOWN);
	assert_lacks(" large");
}

static void names_reach_the_screen_without_control_characters(void **state)
{
	(void)state;
	sample_at(1);
	frame.sample->job_name = "evil\033[2J\n\xc2\x9b job";
	SINGLE_ROW(&frame, tree);
	add_program("\033]0;title\a", 1, 1);
	give(&run);
	assert_shows("evil?[2J??? job");
	assert_shows("?]0;title?");
	for (size_t i = 0; i < canvas.rows * canvas.columns; i++)
		assert_true(canvas.cells[i].character >= ' ' || !canvas.cells[i].character);
}

static void arrow_keys_look_back_and_the_space_bar_stops(void **state)
{
	(void)state;
	for (int i = 1; i <= 10; i++)
		give_job(&run, i, i % 2 ? 1 : 2, 10 * i);
	view_press(&view, KEY_OF_LEFT);
	assert_shows("paused at 9.00 s");
	assert_shows(" Memory    90.0 MiB of 512 MiB");
	view_press(&view, KEY_OF_HOME);
	assert_shows(" Memory    10.0 MiB of 512 MiB");
	view_press(&view, KEY_OF_LEFT);
	view_press(&view, KEY_OF_RIGHT);
	assert_shows(" Memory    20.0 MiB of 512 MiB");
	view_press(&view, KEY_OF_END);
	assert_shows("running 10.0 s");
	view_press(&view, ' ');
	give_job(&run, 11, 1, 110);
	assert_shows(" Memory    100 MiB of 512 MiB");
	assert_shows("paused at 10.0 s");
	view_press(&view, ' ');
	assert_shows(" Memory    110 MiB of 512 MiB");
}

/* The graph ends now as long as it shows the moment, and has an earlier moment in its middle, but never a time before the run. */
static void graph_follows_the_moment_that_is_looked_at(void **state)
{
	static const struct {
		double at_secs;
		struct span wanted;
	} MOMENTS[] = {{300, {240, 300}}, {241, {240, 300}}, {200, {170, 230}},
		       {100, {70, 130}},  {31, {1, 61}},     {2, {1, 61}}};

	(void)state;
	for (int i = 1; i <= 300; i++)
		give_job(&run, i, 1, 100);
	for (size_t i = 0; i < sizeof MOMENTS / sizeof *MOMENTS; i++) {
		struct span span;

		view.at_secs = MOMENTS[i].at_secs;
		span = view_span(&view, &run);
		assert_true(fabs(span.from_secs - MOMENTS[i].wanted.from_secs) < 1.5);
		assert_true(fabs(span.to_secs - MOMENTS[i].wanted.to_secs) < 1.5);
		assert_true(fabs(span.to_secs - span.from_secs - 60) < 1e-9);
	}
	view.at_secs = NAN;
}

static void keys_change_units_and_the_span_of_time(void **state)
{
	(void)state;
	for (int i = 1; i <= 100; i++)
		give_job(&run, i, 1, 100);
	assert_shows("-1 min");
	view_press(&view, '-');
	assert_shows("-5 min");
	view_press(&view, '+');
	assert_shows("-1 min");
	view_press(&view, 'u');
	assert_shows("105 MB of 537 MB");
	view_press(&view, 'u');
	assert_shows("100 MiB of 512 MiB");
	view_press(&view, 'h');
	assert_shows("resource-tracker live: keys");
	view_press(&view, KEY_OF_BACK);
	assert_shows(" Memory");
	view_press(&view, 'q');
	assert_true(view.quits);
}

static void end_of_a_run_is_said_with_its_outcome(void **state)
{
	struct run_end_row *run_end;

	(void)state;
	give_job(&run, 1, 1, 1);
	assert_true(run_is_live(&run));
	run_end = SINGLE_ROW(&identity, run_end);
	run_end->signal = 11;
	run_end->wall_secs = 90;
	run_end->reason = "signal";
	give_job(&run, 2, 1, 1);
	assert_shows("killed by SIGSEGV after 1 min 30 s");
	assert_int_equal(run.state, RUN_FAILED);
}

static const char *expected_after(double secs, bool goes_on)
{
	static char text[EXPECTED_BYTES];

	return expected_text(&run.usual, secs, goes_on, text);
}

/* Ten runs of 11 min 15 s to 13 min 30 s. */
static void set_usual_runs(void)
{
	run.usual.count = 10;
	for (size_t i = 0; i < run.usual.count; i++)
		run.usual.secs[i] = 675 + 15 * (double)i;
}

static void expected_end_is_that_of_the_runs_that_took_longer(void **state)
{
	(void)state;
	assert_string_equal(expected_after(10, true), "");
	assert_false(is_overdue(&run.usual, 10));
	set_usual_runs();
	assert_string_equal(expected_after(10, true), "usually 12 min, about 12 min left");
	assert_string_equal(expected_after(480, true), "usually 12 min, about 4 min left");
	assert_string_equal(expected_after(800, true),
			    "usually 12 min, about 10 s left; slower than 9 of 10 runs");
	assert_string_equal(expected_after(900, true), "usually 12 min; slower than all 10 runs");
	assert_string_equal(expected_after(480, false), "usually 12 min");
	assert_string_equal(expected_after(800, false), "usually 12 min; slower than 9 of 10 runs");
	assert_false(is_overdue(&run.usual, 790));
	assert_true(is_overdue(&run.usual, 800));
	assert_true(is_overdue(&run.usual, 900));
	/* Two kinds of runs: the short ones do not count any more. */
	run.usual.count = 5;
	run.usual.secs[0] = run.usual.secs[1] = 60;
	run.usual.secs[2] = run.usual.secs[3] = run.usual.secs[4] = 36000;
	assert_string_equal(expected_after(7200, true), "usually 60 s to 10.0 h, about 8.0 h left");
}

static void run_shows_its_expected_end_while_it_goes_on(void **state)
{
	(void)state;
	give_job(&run, 30, 1, 1);
	assert_lacks("usually");
	set_usual_runs();
	assert_shows("usually 12 min, about 12 min left\n");
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_job(&run, 31, 1, 1);
	assert_lacks("usually");
}

static void signal_that_was_sent_stands_beside_the_expected_end(void **state)
{
	struct signal_at_row *row;

	(void)state;
	give_job(&run, 29, 1, 1);
	set_usual_runs();
	sample_at(30);
	SINGLE_ROW(&frame, tree)->process_cores_used = 1;
	row = ADD_ROW(&frame, signal_at, NULL);
	row->rule = "memory=90%:USR1:py\033thon3";
	row->elapsed_secs = 29.5;
	row->because = "912 of 1000 MiB";
	row->process_count = 2;
	row->not_sent = no_text(ABSENT_NOT_THIS_END);
	give(&run);
	assert_string_equal(run.signal,
			    "memory=90%:USR1:py\033thon3 sent to 2 processes after 29.5 s (912 of 1000 MiB)");
	assert_shows(" memory=90%:USR1:py");
	assert_shows("usually 12 min, about 12 min left\n");
	assert_lacks("\033");
	/* It stays, and goes with the run. */
	give_job(&run, 31, 1, 1);
	assert_shows(" memory=90%:USR1:py");
	sample_at(0.5);
	assert_int_equal(run_take(&run, &frame, &identity, 2, 1), 0);
	assert_lacks("memory=90%");
}

static void give_waiting(double secs, const char *program)
{
	struct wait_row *row;

	sample_at(secs);
	SINGLE_ROW(&frame, tree)->process_cores_used = 1;
	row = ADD_ROW(&frame, wait, NULL);
	row->class = "storage";
	row->target = "disk vda (ext4)";
	row->program = program;
	give(&run);
}

static void present_wait_stands_below_the_head(void **state)
{
	(void)state;
	give_job(&run, 29, 1, 1);
	set_usual_runs();
	give_waiting(30, "ps\033ql");
	assert_shows("ql waits for storage: disk vda (ext4)");
	assert_shows("usually 12 min, about 12 min left\n");
	assert_lacks("\033");
	view_press(&view, KEY_OF_LEFT);
	assert_lacks("waits for");
	view_press(&view, KEY_OF_END);
	assert_shows("waits for");
	/* A sample without one ends it, and so does the end of the run. */
	give_job(&run, 31, 1, 1);
	assert_lacks("waits for");
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_waiting(32, "psql");
	assert_lacks("waits for");
}

static void next_run_of_a_recording_replaces_the_last(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 1);
	give_job(&run, 2, 1, 1);
	sample_at(0.5);
	assert_int_equal(run_take(&run, &frame, &identity, 2, 1), 0);
	assert_int_equal(run.timeline.count, 1);
}

static void silence_of_a_recording_is_said(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 1);
	view.now_ns = INT64_C(12400000000);
	assert_shows("no sample for 12.0 s");
}

/* ---- other screens ----------------------------------------------------------------------------------- */

static void list_shows_all_runs_and_opens_the_chosen_one(void **state)
{
	(void)state;
	view_add(&view, &other);
	view.lists = view.several = true;
	give_job(&run, 1, 0.5, 100);
	give_job(&other, 1, 1.5, 50);
	assert_shows("2 runs now");
	assert_true(strstr(screen, " second") < strstr(screen, " first"));
	view_press(&view, 's');
	draw(24, 80);
	assert_true(strstr(screen, " first") < strstr(screen, " second"));
	view_press(&view, KEY_OF_DOWN);
	view_press(&view, KEY_OF_ENTER);
	assert_shows(" Memory    ");
	view_press(&view, KEY_OF_BACK);
	assert_shows("2 runs now");
	view.chosen = 0;
	view_press(&view, 'm');
	run_lose(&other, "no end is recorded");
	assert_shows("no end is recorded");
	assert_shows("1 run now");
}

/* Pages of files that another group read first count in the job's memory, but not against its limit. */
static void memory_above_its_limit_has_no_percentage(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 600);
	assert_shows(" Memory    600 MiB  ");
	assert_shows("limit 512 MiB");
}

static void machine_has_its_own_figures(void **state)
{
	struct disk_row *disk;

	(void)state;
	sample_at(1);
	frame.sample->tracked_pid = no_count(ABSENT_NOT_TRACKED);
	SINGLE_ROW(&frame, host_cpu)->utilization_pct = 3;
	SINGLE_ROW(&frame, memory)->used_mib = 1024;
	SINGLE_ROW(&frame, memory)->total_mib = 4096;
	for (int i = 0; i < 4; i++)
		ADD_ROW(&frame, cpu_core, frame.first[ROW_host_cpu])->busy_pct = 33 * i;
	disk = ADD_ROW(&frame, disk, NULL);
	disk->device = "sda";
	disk->read_bytes_per_sec = 2048;
	give(&run);
	assert_shows(" node-1");
	assert_shows(" CPU       3.00 of 4 cores");
	assert_shows(" Memory    1.00 GiB of 4.00 GiB");
	assert_shows(" Cores     _-+#");
	assert_shows(" sda");
	assert_shows("2.00 KiB/s");
}

static void gpus_have_graphs_and_a_row_each(void **state)
{
	struct gpu_row *gpu;

	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, host_cpu);
	SINGLE_ROW(&frame, tree)->process_gpu_usage = 0.7;
	SINGLE_ROW(&frame, tree)->process_gpu_vram_mib = 2048;
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->name = "H100";
	gpu->utilization_pct = 70;
	gpu->vram_used_bytes = INT64_C(4) << 30;
	gpu->vram_total_bytes = INT64_C(80) << 30;
	gpu->power_watts = 350;
	ADD_ROW(&frame, gpu, NULL)->name = "second";
	give(&run);
	assert_shows(" GPU       0.70 in use");
	assert_shows(" VRAM      2.00 GiB");
	assert_shows(" GPU                           BUSY    JOB     MEMORY         OF   TEMP   POWER");
	assert_shows(" H100                          70 %      -   4.00 GiB   80.0 GiB      -   350 W");
	assert_shows(" second                           -      -          -          -      -       -");
}

/* A sample of two GPUs: the job holds both, and works on the first. */
static void give_gpus(double secs, double cores, double first_pct, int64_t xid)
{
	sample_at(secs);
	SINGLE_ROW(&frame, host_cpu);
	SINGLE_ROW(&frame, tree)->process_cores_used = cores;
	SINGLE_ROW(&frame, tree)->process_gpu_usage = first_pct / 100;
	for (int i = 0; i < 2; i++) {
		struct gpu_row *gpu = ADD_ROW(&frame, gpu, NULL);

		gpu->name = "H200";
		gpu->index = i;
		gpu->process_utilization_pct = i ? 0 : first_pct;
		gpu->process_vram_bytes = INT64_C(1) << 30;
		gpu->last_xid = i ? xid : 0;
		if (i)
			continue;
		gpu->sm_active_pct = 96;
		gpu->tensor_active_pct = 93;
	}
	give(&run);
}

static void gpus_with_an_error_or_without_work_have_a_line(void **state)
{
	(void)state;
	for (int i = 1; i < 10; i++)
		give_gpus(i, 0.2, 100, 0);
	assert_null(strstr(draw(24, 100), " GPUs "));
	assert_shows("    JOB     SM TENSOR ");
	assert_shows(" 0: H200            -  100 %   96 %   93 % ");
	give_gpus(10, 0.2, 100, 0);
	assert_shows(" GPUs      GPU 1: 1.00 GiB held idle for 10.0 s\n");
	give_gpus(11, 0.2, 100, 79);
	assert_shows(" GPUs      GPU 1: Xid 79; GPU 1: 1.00 GiB held idle for 11.0 s\n");
	view_press(&view, 'm');
	assert_shows(" GPUs      GPU 1: Xid 79\n");
}

static void starving_gpus_stand_beside_the_use_of_cores(void **state)
{
	(void)state;
	for (int i = 1; i < 10; i++)
		give_gpus(i, 3.5, 40, 0);
	assert_shows(" GPUs      worked 20 % of the last 9.00 s while the job used 3.50 cores\n");
	for (int i = 10; i < 100; i++)
		give_gpus(i, 0.5, 40, 0);
	assert_shows(" GPUs      GPU 1: 1.00 GiB held idle for 1 min 39 s\n");
}

static void small_terminals_are_told_the_least_size(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 1);
	assert_string_equal(draw(3, 20), "20x3 is too small\nat least 50x12\n\n");
	assert_non_null(strstr(draw(12, 50), " CPU       1.00 of 2 cores"));
	assert_non_null(strstr(draw(12, 50), "PROGRAM"));
	/* The first columns, and the one by which the table is sorted. */
	assert_non_null(strstr(draw(12, 50), "     CPU     MEMORY        READ"));
	assert_null(strstr(draw(12, 50), "PROCESSES"));
	view.sort = SORT_WRITTEN;
	assert_non_null(strstr(draw(12, 50), "     CPU     MEMORY     WRITTEN"));
	view.sort = SORT_CPU;
	for (size_t rows = 1; rows < 60; rows++)
		for (size_t columns = 1; columns < 200; columns += 7)
			draw(rows, columns);
	view.lists = true;
	for (size_t rows = 1; rows < 60; rows++)
		for (size_t columns = 1; columns < 200; columns += 7)
			draw(rows, columns);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(graph_shows_zero_as_a_mark_and_nothing_for_an_unknown_value),
		TEST(scales_end_at_round_numbers),
		TEST(timeline_keeps_a_long_run_in_bounded_memory),
		TEST(timeline_leaves_a_gap_empty),
		TEST(run_shows_values_against_their_limits),
		TEST(run_shows_unknown_values_as_a_dash),
		TEST(run_without_a_sample_waits),
		TEST(table_is_sorted_by_each_column),
		TEST(names_reach_the_screen_without_control_characters),
		TEST(arrow_keys_look_back_and_the_space_bar_stops),
		TEST(graph_follows_the_moment_that_is_looked_at),
		TEST(keys_change_units_and_the_span_of_time),
		TEST(end_of_a_run_is_said_with_its_outcome),
		TEST(expected_end_is_that_of_the_runs_that_took_longer),
		TEST(run_shows_its_expected_end_while_it_goes_on),
		TEST(signal_that_was_sent_stands_beside_the_expected_end),
		TEST(present_wait_stands_below_the_head),
		TEST(next_run_of_a_recording_replaces_the_last),
		TEST(silence_of_a_recording_is_said),
		TEST(list_shows_all_runs_and_opens_the_chosen_one),
		TEST(memory_above_its_limit_has_no_percentage),
		TEST(machine_has_its_own_figures),
		TEST(gpus_have_graphs_and_a_row_each),
		TEST(gpus_with_an_error_or_without_work_have_a_line),
		TEST(starving_gpus_stand_beside_the_use_of_cores),
		TEST(small_terminals_are_told_the_least_size),
	};

	return cmocka_run_group_tests_name("live view", tests, NULL, NULL);
}
