/* Tests of src/live: whole screens, each figure of which follows from the samples by hand. */
#include "live_screen.h"

static void add_job_rows(double cores, double memory_mib)
{
	struct tree_row *tree = SINGLE_ROW(&frame, tree);

	tree->process_cores_used = cores;
	tree->process_memory_mib = memory_mib;
	tree->process_swap_mib = 128;
	tree->process_disk_read_bytes = 2048;
	tree->process_disk_write_bytes = 0;
	tree->process_net_sent_bytes = 1572864;
	tree->process_cpu_wait_secs = 0.5;
	SINGLE_ROW(&frame, limits)->cpu_limit_cores = 4;
	SINGLE_ROW(&frame, limits)->memory_limit_mib = 1024;
	SINGLE_ROW(&frame, cgroup)->throttled_secs = 0.3;
	SINGLE_ROW(&frame, pressure)->cpu_some_secs = 0.2;
	SINGLE_ROW(&frame, pressure)->memory_some_secs = 0;
	SINGLE_ROW(&frame, pressure)->io_some_secs = 0.6;
	SINGLE_ROW(&frame, pressure)->source = "cgroup";
}

static void add_host_rows(void)
{
	static const char *const NAMES[] = {"sda", "sdb"};

	SINGLE_ROW(&frame, host_cpu)->utilization_pct = 5.5;
	SINGLE_ROW(&frame, host_cpu)->load_1m = 7.25;
	SINGLE_ROW(&frame, memory)->used_mib = 8192;
	SINGLE_ROW(&frame, memory)->total_mib = 16384;
	SINGLE_ROW(&frame, memory)->swap_used_mib = 0;
	for (int i = 0; i < 8; i++)
		ADD_ROW(&frame, cpu_core, frame.first[ROW_host_cpu])->busy_pct =
			i == 7 ? no_real(ABSENT_NOT_COLLECTED) : 15 * i;
	for (int i = 0; i < 2; i++) {
		struct disk_row *disk = ADD_ROW(&frame, disk, NULL);

		disk->device = NAMES[i];
		disk->read_bytes_per_sec = 1024 * (i + 1);
		disk->write_bytes_per_sec = 0;
	}
}

/* A minute: a half without work, a quarter on one core, and a quarter on three. */
static void give_minute(void)
{
	struct run_start_row *start = SINGLE_ROW(&identity, run_start);

	start->cpu_count = 8;
	start->memory_total_mib = 16384;
	start->folder = "/data/run";
	start->program = "align";
	for (int i = 1; i <= 60; i++) {
		sample_at(i);
		add_job_rows(i <= 30 ? 0 : i <= 45 ? 1 : 3, i <= 30 ? 256 : 512);
		add_host_rows();
		add_program("bwa", 2.5, 400);
		add_program("sort", 0.5, 112);
		give(&run);
	}
}

static void assert_lines(size_t rows, size_t columns, const char *const *lines)
{
	const char *at = draw(rows, columns);

	for (; *lines; lines++) {
		size_t length = strlen(*lines);

		if (strncmp(at, *lines, length) != 0 || at[length] != '\n')
			fail_msg("'%s' is not the next line of:\n%s", *lines, screen);
		at += strcspn(at, "\n") + 1;
	}
}

#define ASSERT_LINES(rows, columns, ...) assert_lines(rows, columns, (const char *const[]){__VA_ARGS__, NULL})

/* How the text looks where it stands first on the last screen, which has one byte for each column. */
static enum look look_of(const char *text)
{
	const char *at = strstr(screen, text), *line = screen;
	size_t row = 0;

	if (!at)
		fail_msg("'%s' is not on the screen:\n%s", text, screen);
	for (const char *end = screen; end < at; end++)
		if (*end == '\n') {
			row++;
			line = end + 1;
		}
	return (enum look)canvas.cells[row * canvas.columns + (size_t)(at - line)].look;
}

/* ---- the screen of a run ----------------------------------------------------------------------------- */

/*
 * Each sample is a column of the graphs. Three rows of eight steps are 24: one core of four is six of them, three are 18, and half of the
 * memory's scale, which ends at its largest value, is 12. In a graph of one row, 1.5 of 2 MiB fill six steps.
 */
static void graphs_have_a_column_for_each_sample(void **state)
{
	(void)state;
	give_minute();
	ASSERT_LINES(
		24, 103,
		" align  (/data/run)  pid 42                                                    running 1 "
		"min  22:14:20",
		"",
		" CPU       3.00 of 4 cores                                                    "
		"............... 4",
		"           max 3.00                                                           "
		"###############",
		"           0.50 threads wait     "
		"______________________________+++++++++++++++###############",
		" Memory    512 MiB of 1.00 GiB                                 "
		"############################## 512 MiB",
		"           max 512 MiB           "
		"::::::::::::::::::::::::::::::##############################",
		"           50 %, swap 128 MiB    "
		"############################################################",
		" Read      2.00 KiB/s            "
		"############################################################ 2 KiB/s",
		" Written   0                     "
		"____________________________________________________________ 1 KiB/s",
		" Received  -",
		" Sent      1.50 MiB/s            "
		"++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++ 2 MiB/s",
		"                                 -1 min                                                   "
		"now",
		" Pressure  CPU 20 %   memory 0 %   I/O 60 %   throttled 30 %", "",
		" PROGRAM                                              CPU     MEMORY        READ     "
		"WRITTEN PROCESSES",
		" bwa                                                 2.50    400 MiB           -           "
		"-         -",
		" sort                                                0.50    112 MiB           -           "
		"-         -",
		"", "", "", "", "",
		" q quit  h help  space pause  left/right look back  +/- time  s sort  m machine  u units");
	assert_int_equal(look_of("align"), LOOK_STRONG);
	assert_int_equal(look_of("running"), LOOK_GOOD);
	assert_int_equal(look_of(" CPU"), LOOK_PLAIN);
	assert_int_equal(look_of("CPU  "), LOOK_CPU);
	assert_int_equal(look_of("512 MiB of"), LOOK_STRONG);
	assert_int_equal(look_of("20 %"), LOOK_WARNING);
	assert_int_equal(look_of("0 %   I/O"), LOOK_PLAIN);
	assert_int_equal(look_of("60 %"), LOOK_BAD);
	assert_int_equal(look_of("CPU     MEMORY"), LOOK_STRONG);
	assert_int_equal(look_of("MEMORY  "), LOOK_HEADING);
	assert_int_equal(look_of("quit"), LOOK_FAINT);
}

/* The graphs have 21 rows: CPU has seven, memory six, and each rate two. One core of four fills 14 of 56 steps, and three fill 42. */
static void tall_screen_has_tall_graphs(void **state)
{
	(void)state;
	give_minute();
	ASSERT_LINES(40, 103,
		     " align  (/data/run)  pid 42                                                    running "
		     "1 min  22:14:20",
		     "",
		     " CPU       3.00 of 4 cores                                                             "
		     "       4",
		     "           max 3.00                                                           "
		     "...............",
		     "           0.50 threads wait                                                  "
		     "###############",
		     "                                                                              "
		     "###############",
		     "                                                                              "
		     "###############",
		     "                                                               "
		     "+++++++++++++++###############",
		     "                                 "
		     "______________________________##############################",
		     " Memory    512 MiB of 1.00 GiB                                 "
		     "############################## 512 MiB",
		     "           max 512 MiB                                         "
		     "##############################",
		     "           50 %, swap 128 MiB                                  "
		     "##############################",
		     "                                 "
		     "############################################################",
		     "                                 "
		     "############################################################",
		     "                                 "
		     "############################################################",
		     " Read      2.00 KiB/s            "
		     "############################################################ 2 KiB/s",
		     "                                 "
		     "############################################################",
		     " Written   0                                                                           "
		     "       1 KiB/s",
		     "                                 "
		     "____________________________________________________________",
		     " Received  -", "",
		     " Sent      1.50 MiB/s            "
		     ":::::::::::::::::::::::::::::::::::::::::::::::::::::::::::: 2 MiB/s",
		     "                                 "
		     "############################################################",
		     "                                 -1 min                                                "
		     "   now");
}

static void machine_beside_the_job_has_its_devices(void **state)
{
	(void)state;
	give_minute();
	view_press(&view, 'm');
	ASSERT_LINES(24, 103,
		     " align  (/data/run)  pid 42  its machine                                       running "
		     "1 min  22:14:20",
		     "",
		     " CPU       5.50 of 8 cores       "
		     "____________________________________________________________ 8",
		     "           max 5.50              "
		     "############################################################",
		     "           load 7.25             "
		     "############################################################",
		     " Memory    8.00 GiB of 16.0 GiB  "
		     "############################################################ 8 GiB",
		     "           max 8.00 GiB          "
		     "############################################################",
		     " Read      -", " Written   -", " Received  -", " Sent      -",
		     "                                 -1 min                                                "
		     "   now",
		     " Cores     _.-:=+*", " Pressure  CPU 20 %   memory 0 %   I/O 60 %", "",
		     " DISK                                                                               "
		     "READ       WRITTEN",
		     " sda                                                                          1.00 "
		     "KiB/s             0",
		     " sdb                                                                          2.00 "
		     "KiB/s             0");
	/* The smallest screen has no room for graphs, and none for three shares. */
	ASSERT_LINES(
		12, 50, " align  (/data/run)       running 1 min  22:14:20", "",
		"                                 -1 min       now", " Cores     _.-:=+*",
		" Pressure  CPU 20 %   memory 0 %", "", " DISK                          READ       WRITTEN",
		" sda                     1.00 KiB/s             0",
		" sdb                     2.00 KiB/s             0", "", "", " q quit  h help  space pause");
	view_press(&view, KEY_OF_DOWN);
	assert_lacks(" sda");
	assert_shows(" sdb");
	for (int i = 0; i < 5; i++)
		view_press(&view, KEY_OF_DOWN);
	assert_shows(" sdb");
	view_press(&view, KEY_OF_UP);
	assert_shows(" sda");
}

static void moment_that_is_looked_at_is_marked_in_the_graphs(void **state)
{
	const size_t row = 4, graph_column = 33;

	(void)state;
	give_minute();
	for (int seconds = 1; seconds <= 60; seconds += 59) {
		view_press(&view, seconds == 1 ? KEY_OF_HOME : ' ');
		ASSERT_LINES(24, 103,
			     seconds == 1 ? " align  (/data/run)  pid 42                                     "
					    "            paused at 1.00 s  22:13:21"
					  : " align  (/data/run)  pid 42                                     "
					    "             paused at 1 min  22:14:20");
		assert_int_equal(look_of("paused"), LOOK_WARNING);
		for (size_t i = 0; i < 60; i++)
			assert_int_equal(canvas.cells[row * 103 + graph_column + i].look,
					 (int)i == seconds - 1 ? LOOK_CPU | LOOK_CURSOR : LOOK_CPU);
		view_press(&view, KEY_OF_END);
	}
}

/* A column of a long run holds five samples: the first is looked at in the first column, and the last in the last. */
static void ends_of_a_long_run_are_marked_in_its_graphs(void **state)
{
	const size_t row = 2, graph_column = 33;

	(void)state;
	SINGLE_ROW(&identity, run_end)->exit_code = 0;
	for (int i = 1; i <= 300; i++)
		give_job(&run, i, 2, 100);
	for (int at_end = 0; at_end < 2; at_end++) {
		view.at_secs = at_end ? 300 : 1;
		draw(24, 103);
		for (size_t i = 0; i < 60; i++)
			assert_int_equal(canvas.cells[row * 103 + graph_column + i].look,
					 i == (at_end ? 59 : 0) ? LOOK_CPU | LOOK_CURSOR : LOOK_CPU);
	}
}

static void memory_near_its_limit_is_marked(void **state)
{
	static const struct {
		double used_mib;
		enum look wanted;
	} CASES[] = {{384, LOOK_WARNING}, {383, LOOK_STRONG}, {461, LOOK_BAD}, {460, LOOK_WARNING}};
	char used[20];

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		give_job(&run, (double)i + 1, 1, CASES[i].used_mib);
		snprintf(used, sizeof used, "%.0f MiB of 512", CASES[i].used_mib);
		assert_shows(used);
		assert_int_equal(look_of(used), CASES[i].wanted);
	}
}

/* The scale ends at the largest value of the graph, wherever it stands. */
static void scale_holds_the_first_value_too(void **state)
{
	(void)state;
	for (int i = 1; i <= 60; i++)
		give_job(&run, i, 1, i == 1 ? 400 : 100);
	assert_non_null(strstr(draw(24, 103), " 512 MiB\n"));
	give_job(&run, 61, 1, 100);
	assert_null(strstr(draw(24, 103), " 512 MiB\n"));
	assert_non_null(strstr(screen, " 128 MiB\n"));
}

/* ---- the list ---------------------------------------------------------------------------------------- */

static void give_list(void)
{
	give_minute();
	view.lists = view.several = true;
	view_add(&view, &other);
	run.number = 12;
	SINGLE_ROW(&identity, run_start)->program = "sort";
	give_job(&other, 60, 0.5, 500);
}

static void list_has_a_line_for_each_run(void **state)
{
	(void)state;
	give_list();
	ASSERT_LINES(24, 103,
		     " 2 runs now                                              node-1: 5.50 of 8 cores, 8.00 "
		     "GiB of 16.0 GiB",
		     "",
		     "   RUN NAME                              TIME    CPU                    MEMORY        "
		     "READ     WRITTEN",
		     ">   12 align                            1 min   3.00 ______--*##       512 MiB  2.00 "
		     "KiB/s           0",
		     "       sort                             1 min   0.50           :       500 MiB         "
		     "  -           -",
		     "");
	assert_int_equal(look_of("512 MiB"), LOOK_CHOSEN);
	assert_int_equal(look_of("500 MiB"), LOOK_BAD); /* of 512 */
	assert_int_equal(look_of("sort"), LOOK_STRONG);
	ASSERT_LINES(12, 60, " 2 runs now         node-1: 5.50 of 8 cores, 8.00 GiB of 1+", "",
		     "   RUN NAME                       TIME    CPU        MEMORY",
		     ">   12 align                     1 min   3.00       512 MiB",
		     "       sort                      1 min   0.50       500 MiB");
}

static void assert_first(const char *first, const char *second)
{
	draw(24, 103);
	if (strstr(screen, first) > strstr(screen, second))
		fail_msg("'%s' is below '%s':\n%s", first, second, screen);
}

static void list_is_sorted_by_each_column(void **state)
{
	(void)state;
	give_list();
	for (view.sort = 0; view.sort < SORT_NAME; view.sort++) {
		assert_first("align", "sort");
		view.reversed = true;
		if (view.sort == SORT_CPU || view.sort == SORT_MEMORY)
			assert_first("sort", "align");
		view.reversed = false;
	}
	assert_first("align", "sort");
	view_press(&view, 'r');
	assert_first("sort", "align");
	/* The chosen run is the same one. */
	assert_string_equal(view_run(&view)->name, "align");
	/* A run that has ended is below those that go on. */
	run_lose(&other, "lost its recorder");
	assert_first("align", "sort");
	assert_int_equal(look_of("lost its"), LOOK_WARNING);
	/* Runs of one name stand by their numbers. */
	snprintf(other.name, sizeof other.name, "align");
	other.number = 11;
	other.state = RUN_GOES_ON;
	assert_first("11 align", "12 align");
	other.number = 13;
	assert_first("12 align", "13 align");
}

/* The list has eight rows: the chosen run is always among them. */
static void long_list_moves_with_the_chosen_run(void **state)
{
	static struct run many[20];

	(void)state;
	view.lists = view.several = true;
	view.sort = SORT_NAME;
	for (unsigned i = 0; i < 20; i++) {
		char name[20];

		snprintf(name, sizeof name, "job-%02u", i);
		run_begin(&many[i], name, 0, 0);
		view_add(&view, &many[i]);
	}
	draw(12, 80);
	assert_non_null(strstr(screen, ">      first"));
	assert_non_null(strstr(screen, "job-06"));
	assert_null(strstr(screen, "job-07"));
	for (int i = 0; i < 7; i++)
		view_press(&view, KEY_OF_DOWN);
	draw(12, 80);
	assert_non_null(strstr(screen, " first"));
	assert_non_null(strstr(screen, ">      job-06"));
	view_press(&view, KEY_OF_DOWN);
	draw(12, 80);
	assert_null(strstr(screen, " first"));
	assert_non_null(strstr(screen, "job-00"));
	assert_non_null(strstr(screen, ">      job-07"));
	for (int i = 0; i < 30; i++)
		view_press(&view, KEY_OF_DOWN);
	assert_int_equal(view.chosen, 20);
}

static void empty_list_says_how_to_see_more(void **state)
{
	(void)state;
	view.count = 0;
	view.lists = true;
	ASSERT_LINES(12, 80, " no run goes on now", "",
		     "   RUN NAME                   TIME    CPU        MEMORY        READ     WRITTEN",
		     "       no run of this user is recorded on this machine now",
		     "       resource-tracker live last: the last run that has ended");
	view.lists = false;
	assert_shows("there is nothing to show");
	view_press(&view, KEY_OF_LEFT);
	view_press(&view, '+');
	view_press(&view, KEY_OF_HOME);
}

/* ---- help and notes ---------------------------------------------------------------------------------- */

static void help_fills_the_screen_that_there_is(void **state)
{
	(void)state;
	view_press(&view, '?');
	ASSERT_LINES(24, 80, " resource-tracker live: keys", "",
		     "  q            quit; the job and its recording go on", "  h  ?         this help");
	assert_shows("\n  Ctrl-L       draw the screen again\n\n  - is an unknown value.");
	assert_shows("\n h back  q quit\n");
	assert_non_null(strstr(draw(20, 80), "- is an unknown"));
	assert_null(strstr(draw(19, 80), "- is an unknown"));
	assert_non_null(strstr(draw(17, 80), "Ctrl-L"));
	assert_null(strstr(draw(16, 80), "Ctrl-L"));
	snprintf(view.note, sizeof view.note, "a note for the user");
	assert_shows("\n a note for the user\n");
	assert_lacks("h back");
	view_press(&view, KEY_OF_BACK);
	assert_lacks("a note");
	assert_lacks("this help");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(graphs_have_a_column_for_each_sample),
		TEST(tall_screen_has_tall_graphs),
		TEST(machine_beside_the_job_has_its_devices),
		TEST(moment_that_is_looked_at_is_marked_in_the_graphs),
		TEST(ends_of_a_long_run_are_marked_in_its_graphs),
		TEST(memory_near_its_limit_is_marked),
		TEST(scale_holds_the_first_value_too),
		TEST(list_has_a_line_for_each_run),
		TEST(list_is_sorted_by_each_column),
		TEST(long_list_moves_with_the_chosen_run),
		TEST(empty_list_says_how_to_see_more),
		TEST(help_fills_the_screen_that_there_is),
	};

	return cmocka_run_group_tests_name("live screens", tests, NULL, NULL);
}
