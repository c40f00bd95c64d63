/* Tests of src/record/run_lines.c: which lines are those of runs, what is told of the others, and the values of a line. */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "record/run_lines.h"

static struct run_lines *lines;
static struct rt_problem problem;

static int end(void **state)
{
	run_lines_free(lines);
	lines = NULL;
	return scratch_leave(state);
}

/* Reads a file of this text. Returns how many lines are those of runs. */
static int count_runs(const char *text)
{
	int runs = 0;

	run_lines_free(lines);
	lines = NULL;
	problem.text[0] = '\0';
	put_text("runs", text);
	assert_int_equal(run_lines_new(&lines, "runs", &problem), 0);
	while (run_lines_next(lines) > 0)
		runs++;
	return runs;
}

#define RUN "{\"schema\":1,\"outcome\":\"ok\"}\n"

/* ---- lines --------------------------------------------------------------------------------------------------- */

static void a_line_of_a_run_has_a_schema_and_an_outcome(void **state)
{
	static const char *const DAMAGED[] = {
		"{\"schema\":1}\n",
		"{\"outcome\":\"ok\"}\n",
		"{\"schema\":0,\"outcome\":\"ok\"}\n",
		"{\"schema\":0.5,\"outcome\":\"ok\"}\n",
		"{\"schema\":\"1\",\"outcome\":\"ok\"}\n",
		"{\"schema\":1,\"outcome\":1}\n",
		"{\"schema\":1,\"outcome\":\"ok\"} x\n",
		"{\"schema\":1,\"outcome\":\"ok\"\n",
		"{\"schema\":1,\"outcome\" \"ok\"}\n",
		"{\"schema\":1,\"outcome\":}\n",
		"[]\n",
	};

	(void)state;
	assert_int_equal(count_runs(RUN "\n \t\n" RUN), 2);
	assert_int_equal(lines->left_out.damaged, 0);
	assert_int_equal(lines->read, 2);
	for (size_t i = 0; i < sizeof DAMAGED / sizeof *DAMAGED; i++) {
		assert_int_equal(count_runs(DAMAGED[i]), 0);
		if (lines->left_out.damaged != 1)
			fail_msg("%s", DAMAGED[i]);
		assert_int_equal(lines->left_out.newer, 0);
	}
}

static void lines_of_newer_schemas_are_counted(void **state)
{
	(void)state;
	assert_int_equal(
		count_runs("{\"schema\":3}\n{\"schema\":9,\"outcome\":\"ok\"}\n{\"schema\":2}\n" RUN), 1);
	assert_int_equal(lines->left_out.newer, 3);
	assert_int_equal(lines->left_out.damaged, 0);
	assert_true(lines->left_out.newest_schema == 9);
}

/* Text of a file that is none of runs ends soon. */
static void many_damaged_lines_before_the_first_run_end_the_file(void **state)
{
	enum { DAMAGED = SOURCE_DAMAGED_LINES };
	char *text = malloc(2 * DAMAGED + 200);

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < DAMAGED; i++)
		memcpy(text + 2 * i, "x\n", 2);
	strcpy(text + 2 * DAMAGED, RUN);
	assert_int_equal(count_runs(text), 0);
	assert_int_equal(lines->left_out.damaged, DAMAGED);
	/* One less, and with a run before them. */
	assert_int_equal(count_runs(text + 2), 1);
	memcpy(text + 2 * DAMAGED, "x\n" RUN, sizeof "x\n" RUN);
	memcpy(text, RUN, strlen(RUN));
	assert_int_equal(count_runs(text), 2);
	free(text);
}

static void a_torn_line_counts_as_damaged(void **state)
{
	(void)state;
	assert_int_equal(count_runs(RUN "{\"schema\":1,\"outc"), 1);
	assert_int_equal(lines->left_out.damaged, 1);
	assert_int_equal(count_runs("{\"schema\":1,\"outcome\":\"ok\"}"), 1);
}

static void tell(const char *path)
{
	assert_string_equal(path, "runs");
}

/* Reads a gzip file that ends in the middle of its last line. */
static void count_runs_of_cut_gzip(size_t left_out_bytes)
{
	gzFile file = gzopen("whole", "wb");
	size_t length;
	char *bytes;

	assert_int_equal(gzwrite(file, RUN RUN, sizeof RUN RUN - 1), sizeof RUN RUN - 1);
	gzclose(file);
	bytes = get_file("whole", &length);
	put_file("runs", bytes, length - left_out_bytes);
	free(bytes);
	run_lines_free(lines);
	assert_int_equal(run_lines_new(&lines, "runs", &problem), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(run_lines_next(lines), 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(run_lines_next(lines), 0);
}

/* The end that is missing counts once. Damage that was told already does not count. */
static void a_gzip_file_that_was_cut_off_has_a_damaged_line(void **state)
{
	char *bytes;
	size_t length;

	(void)state;
	count_runs_of_cut_gzip(0);
	assert_int_equal(lines->left_out.damaged, 0);
	count_runs_of_cut_gzip(4);
	assert_int_equal(lines->left_out.damaged, 1);
	source_on_damage(tell);
	bytes = get_file("whole", &length);
	bytes[length - 5] ^= 1; /* of the checksum */
	put_file("runs", bytes, length);
	free(bytes);
	run_lines_free(lines);
	assert_int_equal(run_lines_new(&lines, "runs", &problem), 0);
	while (run_lines_next(lines) > 0)
		continue;
	assert_true(lines->source.damage_told);
	assert_int_equal(lines->left_out.damaged, 0);
	source_on_damage(NULL);
}

static void a_line_that_is_too_long_is_damaged(void **state)
{
	size_t length = SOURCE_LINE_BYTES + 4 * SOURCE_CHUNK_BYTES;
	char *text = malloc(length + sizeof "\n" RUN);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', length);
	strcpy(text + length, "\n" RUN);
	assert_int_equal(count_runs(text), 1);
	assert_int_equal(lines->left_out.damaged, 1);
	assert_int_equal(lines->read, 1);
	assert_true(is_file_of_runs("runs"));
	free(text);
}

/* ---- what is told -------------------------------------------------------------------------------------------- */

static void assert_told(size_t damaged, size_t newer, double schema, const char *wanted)
{
	struct lines_left_out left_out = {damaged, newer, schema};
	struct buffer text = BUFFER(1000);

	buffer_add_text(&text, "");
	lines_left_out_text(&text, &left_out);
	assert_string_equal(text.data, wanted);
	buffer_done(&text);
}

static void lines_that_were_left_out_are_told(void **state)
{
	struct lines_left_out sum = {1, 2, 9};

	(void)state;
	assert_told(0, 0, 0, "");
	assert_told(1, 0, 0, "1 damaged line");
	assert_told(2, 0, 0, "2 damaged lines");
	assert_told(0, 1, 9, "1 line of schema 9 (this program knows schema 1; a newer one reads more)");
	assert_told(1, 2, 9,
		    "1 damaged line, and 2 lines of schema 9 (this program knows schema 1; a newer one reads "
		    "more)");
	lines_left_out_add(&sum, &(struct lines_left_out){10, 20, 8});
	assert_int_equal(sum.damaged, 11);
	assert_int_equal(sum.newer, 22);
	assert_true(sum.newest_schema == 9);
}

static void a_file_without_a_run_is_refused(void **state)
{
	static const char REASON[] =
		"runs: no line is a run's; resource-tracker runs add makes them of recordings";

	(void)state;
	count_runs("x\n");
	assert_int_equal(run_lines_finish(lines, 0, "runs", &problem), -ENODATA);
	assert_string_equal(problem.text, REASON);
	/* An empty one may get its first line, and a newer one has lines that a newer program reads. */
	count_runs("");
	assert_int_equal(run_lines_finish(lines, 0, "runs", &problem), 0);
	count_runs("x\n{\"schema\":2}\n");
	assert_int_equal(run_lines_finish(lines, 0, "runs", &problem), 0);
	count_runs("x\n" RUN);
	assert_int_equal(run_lines_finish(lines, 0, "runs", &problem), 0);
	assert_int_equal(run_lines_finish(lines, -EIO, "runs", &problem), -EIO);
	assert_string_equal(problem.text, "runs: Input/output error");
	assert_int_equal(run_lines_new(&(struct run_lines *){NULL}, "absent", &problem), -ENOENT);
}

static bool is_runs(const char *text)
{
	put_text("runs", text);
	return is_file_of_runs("runs");
}

static void a_file_of_runs_begins_with_one(void **state)
{
	(void)state;
	assert_true(is_runs(RUN));
	assert_true(is_runs("{\"schema\":7,\"outcome\":\"ok\"}\n"));
	/* Behind a torn first line. */
	assert_true(is_runs("ome\":\"ok\"}\n" RUN));
	assert_false(is_runs("x\nx\n" RUN));
	assert_false(is_runs("{\"schema\":1}\n"));
	assert_false(is_runs("{\"outcome\":\"ok\"}\n"));
	assert_false(is_runs("{\"schema\":1,\"outcome\":7}\n"));
	assert_false(is_runs(""));
	assert_false(is_file_of_runs("absent"));
	assert_false(is_file_of_runs("-"));
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static void read_one(const char *text)
{
	run_lines_free(lines);
	lines = malloc(sizeof *lines);
	assert_non_null(lines);
	assert_int_equal(run_lines_read_text(lines, text, strlen(text)), 0);
}

#define VALUES(members) read_one(" {\"schema\":1,\"outcome\":\"ok\"," members "}\n")

static void a_value_has_its_kind(void **state)
{
	struct scan text;

	(void)state;
	VALUES("\"wall_secs\":2.5,\"name\":\"n\",\"task\":7,\"cpu_secs\":\"3\",\"host\":null,\"wall_secs\":"
	       "3");
	/* The last one counts. */
	assert_true(run_real(lines, FIGURE_time_wall_secs) == 3);
	assert_true(isnan(run_real(lines, FIGURE_time_cpu_secs)));
	assert_true(isnan(run_real(lines, RUN_host)) && isnan(run_real(lines, RUN_rank)));
	text = run_text(lines, RUN_name);
	assert_true(scan_is(&text, "n"));
	text = run_text(lines, RUN_task);
	assert_int_equal(scan_left(&text), 0);
	assert_true(run_text_is(lines, RUN_name, "n"));
	assert_false(run_text_is(lines, RUN_name, "m") || run_text_is(lines, RUN_task, "7") ||
		     run_text_is(lines, RUN_host, ""));
	VALUES("\"name\":\"a\\u00e9\\n\"");
	assert_true(run_text_is(lines, RUN_name, "aé\n"));
	assert_false(run_text_is(lines, RUN_name, "aé") || run_text_is(lines, RUN_name, "a\\u00e9\\n"));
	assert_int_equal(run_lines_read_text(lines, "{}", 2), -EBADMSG);
}

static void the_whole_time_has_the_descendants(void **state)
{
	(void)state;
	VALUES("\"wall_secs\":2");
	assert_true(run_whole_secs(lines) == 2);
	VALUES("\"wall_secs\":2,\"tree_wall_secs\":5");
	assert_true(run_whole_secs(lines) == 5);
	VALUES("\"rank\":2");
	assert_true(isnan(run_whole_secs(lines)));
}

static bool has_tag(const char *name, const char *value)
{
	struct scan text;

	return run_member(lines, RUN_tags, name, &text) && scan_is(&text, value);
}

static void members_of_a_map_are_found(void **state)
{
	struct scan text;

	(void)state;
	VALUES("\"tags\":{\"a\":1,\"b\":\"2\",\"c\":\"3\"},\"name\":\"{\"");
	assert_true(has_tag("b", "2") && has_tag("c", "3"));
	assert_false(run_member(lines, RUN_tags, "a", &text) || run_member(lines, RUN_tags, "d", &text));
	assert_false(run_member(lines, RUN_name, "a", &text) || run_member(lines, RUN_host, "a", &text));
	VALUES("\"tags\":{}");
	assert_false(run_member(lines, RUN_tags, "a", &text));
	VALUES("\"tags\":[\"a\",\"b\"]");
	assert_false(run_member(lines, RUN_tags, "a", &text));
}

#define LINES_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_enter, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		LINES_TEST(a_line_of_a_run_has_a_schema_and_an_outcome),
		LINES_TEST(lines_of_newer_schemas_are_counted),
		LINES_TEST(many_damaged_lines_before_the_first_run_end_the_file),
		LINES_TEST(a_torn_line_counts_as_damaged),
		LINES_TEST(a_gzip_file_that_was_cut_off_has_a_damaged_line),
		LINES_TEST(a_line_that_is_too_long_is_damaged),
		LINES_TEST(lines_that_were_left_out_are_told),
		LINES_TEST(a_file_without_a_run_is_refused),
		LINES_TEST(a_file_of_runs_begins_with_one),
		LINES_TEST(a_value_has_its_kind),
		LINES_TEST(the_whole_time_has_the_descendants),
		LINES_TEST(members_of_a_map_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
