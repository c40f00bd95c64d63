/* Tests of src/live: screens of each size, and the values from which they say something else. */
#include "live_screen.h"

#include <errno.h>

#include "live/terminal.h"

static bool is_shown(size_t rows, size_t columns, const char *text)
{
	return strstr(draw(rows, columns), text);
}

/* The row of the screen that begins with the text. */
static size_t row_of(const char *text)
{
	size_t row = 0;

	for (const char *at = screen; *at; at = strchr(at, '\n') + 1, row++)
		if (strncmp(at, text, strlen(text)) == 0)
			return row;
	return SIZE_MAX;
}

static enum look look_at(size_t row, size_t column)
{
	return (enum look)canvas.cells[row * canvas.columns + column].look;
}

/* ---- graphs ------------------------------------------------------------------------------------------ */

/* Four heights of dots on the left and on the right: dots 7, 3, 2, 1 are bits 0x40, 4, 2, 1, and 8, 6, 5, 4 are 0x80, 0x20, 0x10, 8. */
static void each_height_has_its_dots(void **state)
{
	static const uint32_t LEFT[] = {' ', 0x2840, 0x2844, 0x2846, 0x2847},
			      RIGHT[] = {' ', 0x2880, 0x28a0, 0x28b0, 0x28b8};
	double values[4] = {NAN, NAN, NAN, NAN};

	(void)state;
	for (int height = 1; height <= 4; height++) {
		values[0] = values[3] = height;
		assert_int_equal(canvas_begin(&canvas, 1, 2), 0);
		graph_draw(&canvas, (struct graph_place){0, 0, 1, 2}, GRAPH_BRAILLE, LOOK_CPU, values, 4, 2);
		assert_int_equal(canvas.cells[0].character, LEFT[height]);
		assert_int_equal(canvas.cells[1].character, RIGHT[height]);
		/* The third of four points is looked at. */
		assert_int_equal(canvas.cells[0].look, LOOK_CPU);
		assert_int_equal(canvas.cells[1].look, LOOK_CPU | LOOK_CURSOR);
	}
	graph_draw(&canvas, (struct graph_place){0, 0, 1, 2}, GRAPH_BRAILLE, LOOK_CPU, values, 4, 1);
	assert_int_equal(canvas.cells[0].look, LOOK_CPU | LOOK_CURSOR);
	assert_int_equal(canvas.cells[1].look, LOOK_CPU);
	/* Without a scale, all that is known is a mark. */
	values[0] = 1;
	values[1] = 0;
	graph_draw(&canvas, (struct graph_place){0, 0, 1, 2}, GRAPH_ASCII, LOOK_CPU, values, 0, SIZE_MAX);
	assert_int_equal(canvas.cells[0].character, '_');
	assert_int_equal(canvas.cells[1].character, '_');
}

static void graphs_have_at_most_two_thousand_points(void **state)
{
	static double values[GRAPH_POINTS_MOST + 2];

	(void)state;
	assert_int_equal(graph_points(GRAPH_BRAILLE, 7), 14);
	assert_int_equal(graph_points(GRAPH_BLOCKS, 7), 7);
	assert_int_equal(graph_points(GRAPH_ASCII, 1999), 1999);
	assert_int_equal(graph_points(GRAPH_ASCII, 2001), 2000);
	assert_int_equal(graph_points(GRAPH_BRAILLE, 1001), 2000);
	for (size_t i = 0; i < GRAPH_POINTS_MOST + 2; i++)
		values[i] = 4;
	assert_int_equal(canvas_begin(&canvas, 1, 2001), 0);
	graph_draw(&canvas, (struct graph_place){0, 0, 1, 1001}, GRAPH_BRAILLE, LOOK_CPU, values, 4,
		   SIZE_MAX);
	assert_int_equal(canvas.cells[999].character, 0x28ff);
	assert_int_equal(canvas.cells[1000].character, ' ');
	graph_draw(&canvas, (struct graph_place){0, 0, 1, 2001}, GRAPH_ASCII, LOOK_CPU, values, 4, SIZE_MAX);
	assert_int_equal(canvas.cells[1999].character, '#');
	assert_int_equal(canvas.cells[2000].character, ' ');
}

static void scales_are_one_two_or_five(void **state)
{
	static const double CASES[][2] = {{1, 1},    {1.1, 2}, {2, 2},    {2.1, 5}, {5, 5},
					  {5.1, 10}, {10, 10}, {99, 100}, {0, 1},   {-3, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		assert_true(fabs(round_scale(CASES[i][0], false) - CASES[i][1]) < 1e-9);
	assert_true(round_scale(0, true) == 1);
	assert_true(round_scale(0.75, true) == 1);
	assert_true(round_scale(513, true) == 1024);
	assert_true(round_scale(INFINITY, true) == 1);
}

/* ---- text -------------------------------------------------------------------------------------------- */

/* A locale that does not know a character shows a mark of one column, and a text of more than 4 KiB is none. */
static void odd_texts_take_their_drawn_columns(void **state)
{
	static char text[4200];

	(void)state;
	assert_int_equal(canvas_begin(&canvas, 1, 4), 0);
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 4, LOOK_PLAIN, ""), 0);
	assert_int_equal(text_columns("a\u0378"), 2);
	memset(text, 'x', sizeof text - 1);
	assert_int_equal(text_columns(text), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 4, LOOK_PLAIN, text), 0);
	assert_int_equal(canvas.cells[0].character, ' ');
	text[4000] = '\0';
	assert_int_equal(text_columns(text), 4000);
	assert_int_equal(canvas_text(&canvas, 0, 0, 4, LOOK_PLAIN, text), 4);
	assert_int_equal(canvas.cells[3].character, '+');
	assert_int_equal(canvas.cells[3].look, LOOK_FAINT);
}

static void keys_that_do_not_fit_are_left_out(void **state)
{
	static const char *const KEYS[] = {"q", "quit", "h", "help", NULL};
	static const struct {
		size_t columns;
		bool first, second;
	} CASES[] = {{7, false, false}, {8, true, false}, {15, true, false}, {16, true, true}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_int_equal(canvas_begin(&canvas, 1, CASES[i].columns), 0);
		view_draw_keys(&view, &canvas, KEYS);
		assert_int_equal(canvas.cells[1].character == 'q', CASES[i].first);
		assert_int_equal(canvas.cells[6].character == 't', CASES[i].first);
		if (CASES[i].columns > 9)
			assert_int_equal(canvas.cells[9].character == 'h', CASES[i].second);
	}
	assert_int_equal(canvas.cells[1].look, LOOK_STRONG);
	assert_int_equal(canvas.cells[3].look, LOOK_FAINT);
}

static void help_is_cut_at_the_edge(void **state)
{
	(void)state;
	view_press(&view, 'h');
	assert_true(is_shown(24, 50, "  left  right  look back and forth in time; PgUp+\n"));
}

/* A build without ncurses says so. */
static void a_build_without_a_terminal_shows_no_view(void **state)
{
	size_t rows = 1, columns = 1;

	(void)state;
	assert_false(terminal_is_built());
	assert_int_equal(terminal_open("auto"), -ENOTSUP);
	terminal_size(&rows, &columns);
	assert_true(rows == 0 && columns == 0);
	assert_int_equal(terminal_key(), 0);
}

/* ---- the head ---------------------------------------------------------------------------------------- */

/*
 * The name takes 5 columns, the folder 32 with its brackets, and the state on the right 23 and 3 blanks. Each part has two blanks behind
 * it, and is left out if it would come near the state.
 */
static void the_head_has_the_parts_that_fit(void **state)
{
	static const struct {
		const char *text;
		size_t columns; /* from which it is shown */
	} PARTS[] = {{"(/data/", 67}, {"run 12", 77}, {"pid 42", 89}, {"its machine", 97}};

	(void)state;
	SINGLE_ROW(&identity, run_start)->program = "align";
	SINGLE_ROW(&identity, run_start)->folder = "/data/a-folder-of-thirty-bytes";
	run.number = 12;
	give_job(&run, 60, 1, 100);
	assert_int_equal(strlen(run.folder), 30);
	view_press(&view, 'm');
	for (size_t i = 0; i < 4; i++) {
		if (!is_shown(24, PARTS[i].columns, PARTS[i].text) ||
		    (i && is_shown(24, PARTS[i].columns - 1, PARTS[i].text)))
			fail_msg("%s", PARTS[i].text);
		assert_true(is_shown(24, PARTS[i].columns, "running 1 min  22:14:20\n"));
	}
	/* Without the folder, the number of the run has its place. */
	assert_true(is_shown(24, 66, " align  run 12  pid 42  "));
	assert_true(is_shown(24, 67, " align  (/data/a-folder-of-thirty-bytes)   "));
	view_press(&view, 'm');
	assert_false(is_shown(24, 103, "its machine"));
}

/* An outcome leaves 12 columns for the name. */
static void a_long_outcome_leaves_room_for_the_name(void **state)
{
	(void)state;
	give_job(&run, 60, 1, 100);
	run_lose(&run, "an outcome that is longer than the screen is wide, if it is 60 wide");
	assert_true(is_shown(24, 60, " first     an outcome that is longer than the"));
	snprintf(run.name, sizeof run.name, "a-long-name");
	assert_true(is_shown(24, 60, " a-long-n+ an outcome that"));
	/* One that leaves enough stands at the right. */
	snprintf(run.outcome, sizeof run.outcome, "an outcome of 22 bytes");
	assert_true(is_shown(24, 50, " a-long-name   an outcome of 22 bytes after 1 min\n"));
}

static void a_recording_is_silent_after_three_intervals_and_two_seconds(void **state)
{
	static const struct {
		double interval_secs;
		int64_t silent_ns;
		const char *wanted;
	} CASES[] = {{1, 5000000000, "running 1.00 s"},   {1, 5100000000, "no sample for 5.00 s"},
		     {10, 32000000000, "running 1.00 s"}, {10, 33900000000, "no sample for 33.0 s"},
		     {NAN, 5000000000, "running 1.00 s"}, {NAN, 6000000000, "no sample for 6.00 s"}};

	(void)state;
	give_job(&run, 1, 1, 1);
	run.heard_ns = 70000000000;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		run.interval_secs = CASES[i].interval_secs;
		view.now_ns = run.heard_ns + CASES[i].silent_ns;
		assert_shows(CASES[i].wanted);
	}
}

static void a_time_that_is_unknown_is_a_dash(void **state)
{
	static const double UNKNOWN[] = {0, 2e11, -2e11};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		sample_at(1);
		frame.sample->timestamp = i < 3 ? UNKNOWN[i] : no_real(ABSENT_NOT_COLLECTED);
		SINGLE_ROW(&frame, tree);
		give(&run);
		assert_shows("running 1.00 s  -\n");
	}
	sample_at(2);
	frame.sample->timestamp = 86399;
	give(&run);
	assert_shows("running 2.00 s  23:59:59\n");
}

/* ---- graphs of a run --------------------------------------------------------------------------------- */

/* Heights of the six graphs. The table takes four, eight or a third of the rows, and six more are not the graphs'. */
static void graphs_share_the_rows_that_are_left(void **state)
{
	static const struct {
		size_t rows, heights[6];
	} CASES[] = {
		{12, {2}},
		{13, {3}},
		{14, {2, 2}},
		{19, {3, 2, 1, 1, 1, 1}},
		{20, {2, 2, 1, 1}},
		{22, {2, 2, 1, 1, 1, 1}},
		{23, {3, 2, 1, 1, 1, 1}},
		{26, {4, 4, 1, 1, 1, 1}},
		{28, {4, 4, 2, 2, 1, 1}},
		{29, {4, 4, 2, 2, 2, 1}},
		{30, {4, 4, 2, 2, 1, 1}},
		{33, {4, 4, 2, 2, 2, 2}},
		{35, {5, 5, 2, 2, 2, 2}},
		{39, {6, 6, 2, 2, 2, 2}},
		{45, {7, 7, 3, 3, 2, 2}},
		{48, {7, 7, 3, 3, 3, 3}},
		{49, {8, 7, 3, 3, 3, 3}},
		{51, {8, 8, 3, 3, 3, 3}},
		{60, {8, 8, 3, 3, 3, 3}},
	};
	static const char *const LABELS[] = {" CPU  ",     " Memory  ",   " Read  ",
					     " Written  ", " Received  ", " Sent  "};

	(void)state;
	give_job(&run, 60, 1, 100);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		size_t row = 2;

		draw(CASES[i].rows, 80);
		for (size_t k = 0; k < 6; k++) {
			if (row_of(LABELS[k]) != (CASES[i].heights[k] ? row : SIZE_MAX))
				fail_msg("%s of %zu rows:\n%s", LABELS[k], CASES[i].rows, screen);
			row += CASES[i].heights[k];
		}
		assert_int_equal(row_of("                                 -1 min"), row);
		assert_int_equal(row_of(" Pressure"), row + 1);
		assert_int_equal(row_of(" PROGRAM"), row + 3);
	}
}

static void a_narrow_screen_has_no_scales(void **state)
{
	(void)state;
	give_job(&run, 60, 1.5, 100);
	assert_true(is_shown(24, 66, " 2\n"));
	assert_false(is_shown(24, 65, " 2\n"));
	/* The time ends below the graph. */
	assert_true(is_shown(24, 65, "-1 min                      now\n"));
	assert_true(is_shown(24, 66, "-1 min              now\n"));
}

static void scales_hold_at_least_a_core_and_a_kilobyte(void **state)
{
	(void)state;
	sample_at(60);
	SINGLE_ROW(&frame, tree)->process_cores_used = 0.1;
	SINGLE_ROW(&frame, tree)->process_disk_read_bytes = 10;
	SINGLE_ROW(&frame, tree)->process_disk_write_bytes = 1500;
	give(&run);
	assert_shows("      1\n");
	assert_shows("_ 1 KiB/s\n");
	assert_shows(" 2 KiB/s\n");
	view.unit = UNIT_DECIMAL;
	assert_shows("_ 1 kB/s\n");
	assert_shows(" 2 kB/s\n");
	view.unit = UNIT_MIB;
	assert_shows("_ 0 MiB/s\n");
}

static void memory_at_its_limit_and_above(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 512);
	assert_shows(" Memory    512 MiB of 512 MiB");
	assert_shows("           100 %  ");
	assert_lacks("swap");
	give_job(&run, 2, 1, 513);
	assert_shows(" Memory    513 MiB   ");
	assert_shows("           limit 512 MiB  ");
	sample_at(3);
	SINGLE_ROW(&frame, tree)->process_cores_used = 1;
	SINGLE_ROW(&frame, limits)->cpu_limit_cores = 1;
	SINGLE_ROW(&frame, limits)->memory_limit_mib = 512;
	give(&run);
	assert_shows(" CPU       1.00 of 1 core  ");
	assert_shows(" Memory    -   ");
	assert_lacks(" of 512");
	sample_at(4);
	SINGLE_ROW(&frame, tree)->process_memory_mib = 100;
	SINGLE_ROW(&frame, tree)->process_swap_mib = 0;
	give(&run);
	assert_shows(" Memory    100 MiB   ");
	assert_lacks(" of 512");
	assert_lacks("swap");
	assert_lacks("threads wait");
}

/* The limit is that of the job's memory, not of its GPUs'. */
static void memory_of_gpus_has_no_limit(void **state)
{
	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, tree)->process_gpu_vram_mib = 100;
	SINGLE_ROW(&frame, tree)->process_gpu_usage = 0.2;
	SINGLE_ROW(&frame, limits)->memory_limit_mib = 512;
	ADD_ROW(&frame, gpu, NULL)->name = "H100";
	give(&run);
	assert_shows(" VRAM      100 MiB   ");
	assert_shows(". 1\n");
	assert_shows(" 128 MiB\n");
	assert_shows(" GPU       0.20 in use");
}

static void the_axis_tells_the_time_that_is_shown(void **state)
{
	(void)state;
	for (int i = 101; i <= 400; i++)
		give_job(&run, i, 1, 100);
	assert_shows("-1 min                            now\n");
	view.at_secs = 200;
	assert_shows("-3 min 50 s               -2 min 50 s\n");
	view.at_secs = NAN;
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	give_job(&run, 401, 1, 100);
	assert_shows("1 min 40 s                 6 min 41 s\n");
	view.at_secs = 101;
	assert_shows(" at 1 min 41 s ");
	assert_lacks("paused");
}

/* ---- the line of pressure ---------------------------------------------------------------------------- */

static enum look share_look(double io_secs, double cpu_secs, const char *source, const char *label)
{
	const char *at;

	timeline_clear(&run.timeline);
	sample_at(1);
	SINGLE_ROW(&frame, tree);
	SINGLE_ROW(&frame, pressure)->io_some_secs = io_secs;
	SINGLE_ROW(&frame, pressure)->cpu_some_secs = cpu_secs;
	SINGLE_ROW(&frame, pressure)->source = source;
	SINGLE_ROW(&frame, cgroup)->throttled_secs = 0;
	give(&run);
	draw(24, 80);
	at = strstr(strstr(screen, " Pressure"), label);
	assert_non_null(at);
	return look_at(row_of(" Pressure"), (size_t)(at - strstr(screen, " Pressure")) + strlen(label) + 1);
}

static void pressure_is_marked_from_a_tenth_and_from_a_half(void **state)
{
	(void)state;
	assert_int_equal(share_look(0.09, 0.5, "cgroup", "I/O"), LOOK_PLAIN);
	assert_int_equal(share_look(0.1, 0.5, "cgroup", "I/O"), LOOK_WARNING);
	assert_int_equal(share_look(0.49, 0.5, "cgroup", "I/O"), LOOK_WARNING);
	assert_int_equal(share_look(0.5, 0.1, "cgroup", "I/O"), LOOK_BAD);
	assert_int_equal(share_look(0.5, 0.1, "cgroup", "CPU"), LOOK_WARNING);
	assert_null(strstr(screen, "throttled"));
	assert_null(strstr(screen, "of the machine"));
	/* That of the machine says little about the job, but all about the machine. */
	assert_int_equal(share_look(0.5, 0.1, "host", "I/O"), LOOK_PLAIN);
	assert_non_null(strstr(screen, "I/O 50 %   of the machine\n"));
	view_press(&view, 'm');
	assert_int_equal(share_look(0.5, 0.1, "host", "I/O"), LOOK_BAD);
	assert_null(strstr(screen, "of the machine"));
}

/* "Pressure  CPU 10 %   memory -   I/O 50 %   " takes 44 columns, and a share needs 16. */
static void shares_that_do_not_fit_are_left_out(void **state)
{
	(void)state;
	(void)share_look(0.5, 0.1, "host", "I/O");
	assert_true(is_shown(24, 60, "of the machine"));
	assert_false(is_shown(24, 57, "of the machine"));
	assert_true(is_shown(24, 50, "memory -   I/O 50 %\n"));
	sample_at(2);
	SINGLE_ROW(&frame, tree);
	SINGLE_ROW(&frame, cgroup)->throttled_secs = 0.3;
	give(&run);
	assert_true(is_shown(24, 80, "I/O -   throttled 30 %\n"));
	view_press(&view, 'm');
	assert_false(is_shown(24, 80, "throttled"));
}

static void cores_are_shown_while_there_is_room(void **state)
{
	(void)state;
	sample_at(1);
	frame.sample->tracked_pid = no_count(ABSENT_NOT_TRACKED);
	SINGLE_ROW(&frame, host_cpu);
	give(&run);
	assert_shows("\n Cores     -\n");
	sample_at(2);
	SINGLE_ROW(&frame, host_cpu);
	for (int i = 0; i < 80; i++)
		ADD_ROW(&frame, cpu_core, frame.first[ROW_host_cpu])->busy_pct = i < 5 ? 7 : 100;
	give(&run);
	assert_shows("\n Cores     _____###");
	assert_int_equal(canvas.cells[row_of(" Cores") * 80 + 78].character, '#');
	assert_int_equal(canvas.cells[row_of(" Cores") * 80 + 79].character, ' ');
	view.style = GRAPH_BLOCKS;
	draw(24, 80);
	assert_int_equal(canvas.cells[row_of(" Cores") * 80 + 11].character, 0x2581);
	assert_int_equal(canvas.cells[row_of(" Cores") * 80 + 16].character, 0x2588);
}

/* ---- tables ------------------------------------------------------------------------------------------ */

static void give_devices(void)
{
	struct gpu_row *gpu;

	sample_at(1);
	SINGLE_ROW(&frame, host_cpu);
	SINGLE_ROW(&frame, tree)->process_cores_used = 1;
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->name = "H100";
	gpu->sm_active_pct = 50;
	gpu->temperature_celsius = 61;
	ADD_ROW(&frame, disk, NULL)->device = "sda";
	ADD_ROW(&frame, network, NULL)->interface = "eth0";
	ADD_ROW(&frame, mount, NULL)->mount_point = "/scratch";
	add_program("sort", 1, 1);
	give(&run);
}

/* By whatever the programs are sorted, the other tables have no column that is marked. */
static void only_programs_are_sorted(void **state)
{
	static const char *const HEADINGS[] = {" GPU            ", " DISK", " INTERFACE", " FILE SYSTEM"};
	/* Where the columns of programs end: 103 columns, and 10, 12, 12 and 11 columns behind them. */
	static const size_t ENDS[] = {57, 68, 80, 92};

	(void)state;
	give_devices();
	for (view.sort = SORT_CPU; view.sort < VIEW_SORTS; view.sort++) {
		size_t row;

		view.machine = true;
		draw(50, 103);
		for (size_t i = 0; i < 4; i++) {
			row = row_of(HEADINGS[i]);
			assert_true(row < 50);
			for (size_t column = 0; column < 103; column++)
				if (canvas.cells[row * 103 + column].character != ' ')
					assert_int_equal(look_at(row, column), LOOK_HEADING);
		}
		view.machine = false;
		draw(50, 103);
		row = row_of(" PROGRAM");
		assert_int_equal(look_at(row, 1), view.sort == SORT_NAME ? LOOK_STRONG : LOOK_HEADING);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(look_at(row, ENDS[i] - 1),
					 i == view.sort ? LOOK_STRONG : LOOK_HEADING);
		assert_int_equal(look_at(row, 101), LOOK_HEADING);
	}
}

static void tables_have_all_columns_that_are_known(void **state)
{
	(void)state;
	give_devices();
	assert_true(is_shown(50, 103,
			     " GPU                                           BUSY    JOB     SM     MEMORY   "
			     "      OF   TEMP   POWER\n"
			     " H100                                             -      -   50 %          -   "
			     "       -   61 C       -\n"));
	/* The last columns go first, and a name keeps 14 columns: 7 + 7 + 7 + 11 + 11 + 7 + 1 and 14 are 65. */
	assert_true(is_shown(50, 65, "   TEMP\n"));
	assert_false(is_shown(50, 64, "   TEMP"));
	assert_true(is_shown(50, 73, "   POWER\n"));
	assert_false(is_shown(50, 72, "   POWER"));
	view_press(&view, 'm');
	assert_true(is_shown(50, 50, " DISK                          READ       WRITTEN\n"));
}

static void long_names_are_cut_before_the_numbers(void **state)
{
	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, tree);
	add_program("a-program-with-a-name-of-many-letters", 1, 1);
	give(&run);
	/* 50 columns have 31 of numbers and a blank at the end: 16 for the name. */
	assert_true(is_shown(24, 50, "\n a-program-with-+     1.00   1.00 MiB           -\n"));
}

static void a_scrolled_table_goes_on_with_the_next(void **state)
{
	(void)state;
	give_devices();
	view_press(&view, 'm');
	assert_true(is_shown(24, 103, " H100 "));
	view_press(&view, KEY_OF_DOWN);
	assert_false(is_shown(24, 103, " H100 "));
	assert_true(is_shown(24, 103, " sda "));
	view_press(&view, KEY_OF_DOWN);
	view_press(&view, KEY_OF_DOWN);
	assert_false(is_shown(24, 103, " eth0 "));
	assert_true(is_shown(24, 103, " /scratch "));
	view_press(&view, KEY_OF_DOWN);
	assert_true(is_shown(24, 103, " /scratch "));
	assert_int_equal(view.scroll, 3);
	view_press(&view, 's');
	assert_int_equal(view.scroll, 0);
	view_press(&view, KEY_OF_DOWN);
	view_press(&view, 'm');
	assert_int_equal(view.scroll, 0);
	for (int i = 0; i < 1002; i++)
		view_press(&view, KEY_OF_DOWN);
	assert_int_equal(view.scroll, 1000);
}

static void names_and_equal_numbers_are_sorted_by_name(void **state)
{
	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, tree);
	add_program("b", 1, 1);
	add_program("a", 1, 2);
	add_program("c", 2, 3);
	give(&run);
	draw(24, 80);
	assert_true(row_of(" c ") < row_of(" a ") && row_of(" a ") < row_of(" b "));
	view_press(&view, 'r');
	draw(24, 80);
	assert_true(row_of(" a ") < row_of(" b ") && row_of(" b ") < row_of(" c "));
	view.sort = SORT_NAME;
	draw(24, 80);
	assert_true(row_of(" c ") < row_of(" b ") && row_of(" b ") < row_of(" a "));
	view_press(&view, 'r');
	draw(24, 80);
	assert_true(row_of(" a ") < row_of(" b ") && row_of(" b ") < row_of(" c "));
}

/* ---- the line of GPUs -------------------------------------------------------------------------------- */

static void give_gpu(double secs, double job_pct, int64_t job_bytes, double cores, double io_secs)
{
	struct gpu_row *gpu;

	sample_at(secs);
	SINGLE_ROW(&frame, tree)->process_cores_used = cores;
	SINGLE_ROW(&frame, tree)->process_gpu_usage = job_pct / 100;
	SINGLE_ROW(&frame, pressure)->io_some_secs = io_secs;
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->index = 0;
	gpu->process_utilization_pct = job_pct;
	gpu->process_vram_bytes = job_bytes;
	give(&run);
}

static void assert_gpu_line(double job_pct, int64_t job_bytes, double cores, double io_secs,
			    const char *wanted)
{
	timeline_clear(&run.timeline);
	for (int i = 1; i <= 12; i++)
		give_gpu(i, job_pct, job_bytes, cores, io_secs);
	draw(24, 103);
	if (wanted ? !strstr(screen, wanted) : !!strstr(screen, " GPUs  "))
		fail_msg("not '%s':\n%s", wanted, screen);
}

static void a_gpu_is_idle_without_any_work(void **state)
{
	(void)state;
	assert_gpu_line(0, 1 << 30, 0, 0, " GPUs      GPU 0: 1.00 GiB held idle for 12.0 s\n");
	assert_gpu_line(1, 1 << 30, 0, 0, NULL);
	assert_gpu_line(0, 0, 0, 0, NULL);
	assert_gpu_line(NAN, 1 << 30, 0, 0, NULL);
}

/* GPUs that work less than 70 % of the time wait for a job that uses 0.7 cores, or waits for storage in 30 % of the time. */
static void a_gpu_starves_beside_a_busy_core_or_storage(void **state)
{
	(void)state;
	assert_gpu_line(50, 1, 0.75, 0, "worked 50 % of the last 12.0 s while the job used 0.75 cores\n");
	assert_gpu_line(50, 1, 0.625, 0, NULL);
	assert_gpu_line(50, 1, 0, 0.3125, "used 0.00 cores; waited for I/O 31 %\n");
	assert_gpu_line(50, 1, 0, 0.25, NULL);
	assert_gpu_line(68, 1, 1, 0, "worked 68 % ");
	assert_gpu_line(72, 1, 1, 0, NULL);
	assert_gpu_line(0, 0, 1, 0, NULL);
	/* Unknown cores count as none. */
	assert_gpu_line(50, 1, NAN, 0.5, "used 0.00 cores; waited for I/O 50 %\n");
	assert_gpu_line(50, 1, 1, NAN, "used 1.00 cores\n");
}

static void other_samples_do_not_count_as_held(void **state)
{
	(void)state;
	/* Work in between begins the time anew, and so does a sample without the GPU. */
	assert_gpu_line(0, 1 << 30, 0, 0, "held idle for 12.0 s");
	give_gpu(13, 50, 1 << 30, 0, 0);
	for (int i = 14; i <= 22; i++)
		give_gpu(i, 0, 1 << 30, 0, 0);
	assert_null(strstr(draw(24, 103), "held idle"));
	give_gpu(23, 0, 1 << 30, 0, 0);
	assert_non_null(strstr(draw(24, 103), "held idle for 10.0 s"));
	give_job(&run, 24, 1, 1);
	for (int i = 25; i <= 34; i++)
		give_gpu(i, 0, 1 << 30, 0, 0);
	assert_non_null(strstr(draw(24, 103), "held idle for 10.0 s"));
}

/* ---- the list ---------------------------------------------------------------------------------------- */

/* Behind the number and the name: 12 columns of time, 7 of CPU, 11 of memory, and 12 of each rate if there are 72. */
static void the_list_has_the_columns_that_fit(void **state)
{
	(void)state;
	view.lists = true;
	run.number = 7;
	give_job(&run, 60, 1, 400);
	assert_true(is_shown(12, 71,
			     "   RUN NAME                          TIME    CPU                MEMORY\n"
			     ">    7 first                        1 min   1.00       #       400 MiB\n"));
	assert_true(is_shown(12, 72,
			     "   RUN NAME           TIME    CPU        MEMORY        READ     WRITTEN\n"
			     ">    7 first         1 min   1.00       400 MiB           -           -\n"));
	/* 88 columns have nine more than a name needs: four are the graph's, with the blank behind it. */
	assert_true(is_shown(12, 87, "1.00       400 MiB"));
	assert_true(is_shown(12, 88, "1.00   #       400 MiB"));
	/* The scale ends at the first value: 3 s of 8 cores and 17 s of 4 are 4.6. */
	timeline_clear(&run.timeline);
	for (int i = 1; i <= 60; i++)
		give_job(&run, i, i <= 3 ? 8 : 4, 400);
	assert_true(is_shown(12, 88, "4.00 #**       400 MiB"));
	/* A graph has at most 23 columns. */
	timeline_clear(&run.timeline);
	give_job(&run, 60, 1, 400);
	assert_true(is_shown(12, 129, "1.00                       #       400 MiB"));
	assert_true(is_shown(12, 160, "1.00                       #       400 MiB"));
}

static void the_list_tells_of_the_newest_sample(void **state)
{
	(void)state;
	view.lists = true;
	assert_int_equal(view_add(&view, &other), 0);
	sample_at(1);
	SINGLE_ROW(&frame, host_cpu)->utilization_pct = 3;
	SINGLE_ROW(&frame, memory)->used_mib = 1024;
	SINGLE_ROW(&frame, memory)->total_mib = 4096;
	give(&run);
	sample_at(1);
	frame.sample->host = "node-2";
	SINGLE_ROW(&frame, host_cpu)->utilization_pct = 5;
	give(&other);
	run.heard_ns = 2;
	other.heard_ns = 1;
	assert_shows(" 2 runs now ");
	assert_shows("node-1: 3.00 of nan cores, 1.00 GiB of 4.00 GiB\n");
	other.heard_ns = 3;
	assert_shows("node-2: 5.00 ");
	run_lose(&other, "gone");
	assert_shows(" 1 run now ");
	assert_shows("node-1: 3.00 ");
	run_lose(&run, "gone");
	assert_shows(" no run goes on now\n");
	assert_lacks("node-1:");
}

static void the_list_marks_memory_near_its_limit(void **state)
{
	static const struct {
		double used_mib;
		enum look wanted;
	} CASES[] = {{383, LOOK_PLAIN}, {384, LOOK_WARNING}, {460, LOOK_WARNING}, {461, LOOK_BAD}};

	(void)state;
	view.lists = true;
	view.sort = SORT_NAME;
	view_add(&view, &other);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		give_job(&other, (double)i + 1, 1, CASES[i].used_mib);
		draw(12, 80);
		assert_int_equal(look_at(4, 53), CASES[i].wanted);
	}
	/* The looks of ends. */
	run_lose(&other, "gone");
	draw(12, 80);
	assert_int_equal(look_at(row_of("       second"), 7), LOOK_FAINT);
	assert_int_equal(look_at(row_of("       second"), 36), LOOK_WARNING);
	other.state = RUN_FAILED;
	draw(12, 80);
	assert_int_equal(look_at(row_of("       second"), 36), LOOK_BAD);
	other.state = RUN_SUCCEEDED;
	draw(12, 80);
	assert_int_equal(look_at(row_of("       second"), 36), LOOK_GOOD);
	assert_true(is_shown(12, 80, "4.00 s  gone\n"));
}

/* A recording that was attached to late is as long as its samples, not as the job. */
static void the_whole_of_a_late_run_is_shown(void **state)
{
	struct span span;

	(void)state;
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	for (int i = 101; i <= 130; i++)
		give_job(&run, i, 1, 100);
	view_press(&view, '+');
	span = view_span(&view, &run);
	assert_true(span.from_secs == 100 && span.to_secs == 130);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(each_height_has_its_dots),
		TEST(graphs_have_at_most_two_thousand_points),
		TEST(scales_are_one_two_or_five),
		TEST(odd_texts_take_their_drawn_columns),
		TEST(keys_that_do_not_fit_are_left_out),
		TEST(help_is_cut_at_the_edge),
		TEST(a_build_without_a_terminal_shows_no_view),
		TEST(the_head_has_the_parts_that_fit),
		TEST(a_long_outcome_leaves_room_for_the_name),
		TEST(a_recording_is_silent_after_three_intervals_and_two_seconds),
		TEST(a_time_that_is_unknown_is_a_dash),
		TEST(graphs_share_the_rows_that_are_left),
		TEST(a_narrow_screen_has_no_scales),
		TEST(scales_hold_at_least_a_core_and_a_kilobyte),
		TEST(memory_at_its_limit_and_above),
		TEST(memory_of_gpus_has_no_limit),
		TEST(the_axis_tells_the_time_that_is_shown),
		TEST(pressure_is_marked_from_a_tenth_and_from_a_half),
		TEST(shares_that_do_not_fit_are_left_out),
		TEST(cores_are_shown_while_there_is_room),
		TEST(only_programs_are_sorted),
		TEST(tables_have_all_columns_that_are_known),
		TEST(long_names_are_cut_before_the_numbers),
		TEST(a_scrolled_table_goes_on_with_the_next),
		TEST(names_and_equal_numbers_are_sorted_by_name),
		TEST(a_gpu_is_idle_without_any_work),
		TEST(a_gpu_starves_beside_a_busy_core_or_storage),
		TEST(other_samples_do_not_count_as_held),
		TEST(the_list_has_the_columns_that_fit),
		TEST(the_list_tells_of_the_newest_sample),
		TEST(the_list_marks_memory_near_its_limit),
		TEST(the_whole_of_a_late_run_is_shown),
	};

	return cmocka_run_group_tests_name("live edges", tests, NULL, NULL);
}
