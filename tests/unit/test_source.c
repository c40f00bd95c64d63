/* Tests of src/record/source.c: lines of plain and gzip files, and when a file ends as damaged. */
#include "scratch.h"

#include <errno.h>
#include <zlib.h>

#include "record/source.h"

enum { MIB = 1 << 20 };

static struct source source;
static struct source_line line;
static const char *told;

static int begin(void **state)
{
	source = (struct source){.fd = -1};
	told = NULL;
	return scratch_enter(state);
}

static int end(void **state)
{
	source_close(&source);
	source_on_damage(NULL);
	return scratch_leave(state);
}

static void open_it(const char *path)
{
	source_close(&source);
	assert_int_equal(source_open(&source, path, NULL), 0);
}

static bool next_line_is(const char *text)
{
	return source_next_line(&source, &line) == 1 && scan_is(&line.text, text);
}

static void assert_end(bool cut_off)
{
	assert_int_equal(source_next_line(&source, &line), 0);
	assert_int_equal(source.cut_off, cut_off);
}

/* Appends `count` members with these bytes to a gzip file. */
static void add_gzip(const void *bytes, size_t length, int count)
{
	gzFile file = gzopen("member", "wb1");
	FILE *all = fopen("gz", "ab");
	size_t member_length;
	char *member;

	assert_true(file && all);
	assert_int_equal(gzwrite(file, bytes, (unsigned)length), length);
	gzclose(file);
	member = get_file("member", &member_length);
	while (count-- > 0)
		assert_int_equal(fwrite(member, 1, member_length, all), member_length);
	fclose(all);
	free(member);
}

/* Appends lines of a MiB each with their end. */
static void add_blank_lines(int count)
{
	char *blank = malloc(MIB);

	assert_non_null(blank);
	memset(blank, ' ', MIB);
	blank[5] = '\t';
	blank[6] = '\0';
	blank[7] = '\r';
	blank[MIB - 1] = '\n';
	add_gzip(blank, MIB, count);
	free(blank);
}

static void add_zeros(int count)
{
	char *zeros = calloc(1, MIB);

	assert_non_null(zeros);
	add_gzip(zeros, MIB, count);
	free(zeros);
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static void lines_end_with_either_end_or_with_the_file(void **state)
{
	(void)state;
	put_text("plain", "a\nb\r\n\n\r\nc\rd\ne");
	open_it("plain");
	assert_true(next_line_is("a") && line.terminated && !line.too_long);
	assert_int_equal(source.line_number, 1);
	assert_true(next_line_is("b") && next_line_is("") && next_line_is("") && next_line_is("c\rd"));
	assert_true(next_line_is("e") && !line.terminated);
	assert_int_equal(source.line_number, 6);
	assert_end(false);
	put_text("empty", "");
	open_it("empty");
	assert_end(false);
}

static void the_mark_of_spreadsheets_is_skipped(void **state)
{
	(void)state;
	put_text("plain", "\xef\xbb\xbf"
			  "a\n");
	open_it("plain");
	assert_true(next_line_is("a"));
	put_text("plain", "\xef\xbb\xbf");
	open_it("plain");
	assert_end(false);
	put_text("plain", "\xef\xbb"
			  "a\n");
	open_it("plain");
	assert_true(next_line_is("\xef\xbb"
				 "a"));
	add_gzip("\xef\xbb\xbf"
		 "b\n",
		 5, 1);
	open_it("gz");
	assert_true(next_line_is("b"));
}

static void bytes_are_seen_before_they_are_read(void **state)
{
	struct scan bytes;
	char read_bytes[10] = "";

	(void)state;
	put_text("plain", "abcdef");
	open_it("plain");
	assert_int_equal(source_peek(&source, 3, &bytes), 0);
	assert_true(scan_left(&bytes) >= 3 && memcmp(bytes.at, "abc", 3) == 0);
	assert_int_equal(source_peek(&source, 100, &bytes), 0);
	assert_true(scan_is(&bytes, "abcdef"));
	assert_int_equal(source_read(&source, read_bytes, 2), 2);
	assert_string_equal(read_bytes, "ab");
	assert_int_equal(source_peek(&source, 1, &bytes), 0);
	assert_true(scan_is(&bytes, "cdef"));
	assert_int_equal(source_read(&source, read_bytes, sizeof read_bytes), 4);
	assert_int_equal(source_read(&source, read_bytes, sizeof read_bytes), 0);
}

static void a_file_of_several_pieces_is_read_to_its_end(void **state)
{
	char *text = malloc(MIB);
	size_t length = 0;
	ssize_t got;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', MIB);
	put_file("plain", text, MIB);
	open_it("plain");
	while ((got = source_read(&source, text, MIB)) > 0)
		length += (size_t)got;
	assert_int_equal(got, 0);
	assert_int_equal(length, MIB);
	free(text);
}

static void a_line_may_have_8_mib(void **state)
{
	const size_t most = SOURCE_LINE_BYTES, length = 2 * most + 4 * SOURCE_CHUNK_BYTES;
	char *text = malloc(length + 5);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', length);
	memcpy(text, "a\n", 2);
	text[2 + most] = '\n';
	memcpy(text + length, "\nend", 4);
	put_file("plain", text, length + 4);
	free(text);
	open_it("plain");
	assert_true(next_line_is("a"));
	assert_int_equal(source_next_line(&source, &line), 1);
	assert_int_equal(scan_left(&line.text), most);
	assert_false(line.too_long);
	assert_int_equal(source_next_line(&source, &line), 1);
	assert_true(line.too_long && line.terminated);
	assert_int_equal(scan_left(&line.text), 0);
	assert_true(next_line_is("end"));
	assert_int_equal(source.line_number, 4);
	assert_end(false);
}

/* ---- bytes without text -------------------------------------------------------------------------------------- */

static void a_gzip_file_may_have_64_mib_without_text(void **state)
{
	int lines = 0;

	(void)state;
	add_blank_lines(64);
	add_gzip("text\n", 5, 1);
	add_blank_lines(65);
	add_gzip("more\n", 5, 1);
	open_it("gz");
	while (!next_line_is("text"))
		lines++;
	assert_int_equal(lines, 64);
	for (lines = 0; source_next_line(&source, &line) == 1; lines++)
		assert_false(scan_is(&line.text, "more"));
	assert_int_equal(lines, 65);
	assert_true(source.cut_off);
}

/* Neither the lines nor the long one is too much alone. */
static void a_long_line_counts_with_the_blank_ones_before_it(void **state)
{
	int lines = 0;

	(void)state;
	add_blank_lines(34);
	add_zeros(34);
	add_gzip("\ntext\n", 6, 1);
	open_it("gz");
	while (source_next_line(&source, &line) == 1)
		lines++;
	assert_int_equal(lines, 35);
	assert_true(line.too_long && source.cut_off);
	/* A line with text is another one. */
	unlink("gz");
	add_blank_lines(34);
	add_gzip("x", 1, 1);
	add_zeros(34);
	add_gzip("\ntext\n", 6, 1);
	open_it("gz");
	for (lines = 0; lines < 35; lines++)
		assert_int_equal(source_next_line(&source, &line), 1);
	assert_true(next_line_is("text"));
	assert_end(false);
}

/* A crash of the machine may have left a hole. */
static void a_plain_file_may_have_a_hole_behind_its_first_line(void **state)
{
	int fd;

	(void)state;
	put_text("plain", "a\n");
	assert_int_equal(truncate("plain", 70 * MIB), 0);
	fd = open("plain", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "\nb\n", 3), 3);
	close(fd);
	open_it("plain");
	assert_true(next_line_is("a"));
	assert_int_equal(source_next_line(&source, &line), 1);
	assert_true(line.too_long);
	assert_true(next_line_is("b"));
	assert_end(false);
	/* Without a line before it, the file is of another kind. */
	assert_int_equal(truncate("plain", 0) | truncate("plain", 70 * MIB), 0);
	fd = open("plain", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "\nb\n", 3), 3);
	close(fd);
	open_it("plain");
	assert_int_equal(source_next_line(&source, &line), 1);
	assert_true(line.too_long);
	assert_end(true);
}

/* ---- gzip ---------------------------------------------------------------------------------------------------- */

static void tell(const char *path)
{
	told = path;
}

/* Puts a gzip file of many lines, and returns its bytes. */
static char *put_gzip_lines(size_t *ret_length)
{
	char *text = malloc(20000 * 12);
	uint32_t random = 1;
	size_t length = 0;

	assert_non_null(text);
	for (int i = 0; i < 20000; i++) {
		random = random * 1103515245 + 12345;
		length += (size_t)sprintf(text + length, "%u\n", random);
	}
	add_gzip(text, length, 1);
	free(text);
	return get_file("gz", ret_length);
}

static int count_lines(void)
{
	int lines = 0;

	while (source_next_line(&source, &line) == 1)
		lines++;
	return lines;
}

static void damage_of_a_gzip_file_is_told_and_a_cut_is_not(void **state)
{
	size_t length;
	char *bytes = put_gzip_lines(&length);

	(void)state;
	source_on_damage(tell);
	open_it("gz");
	assert_int_equal(count_lines(), 20000);
	assert_false(source.cut_off || source.damage_told || told);
	put_file("gz", bytes, length / 2);
	open_it("gz");
	assert_true(count_lines() > 100);
	assert_true(source.cut_off && !source.damage_told && !told);
	/* Its checksum is wrong. */
	bytes[length - 5] ^= 1;
	put_file("gz", bytes, length);
	open_it("gz");
	assert_true(count_lines() > 100);
	assert_true(source.cut_off && source.damage_told);
	assert_string_equal(told, "gz");
	free(bytes);
}

static void a_gzip_file_that_is_being_written_is_not_cut_off(void **state)
{
	size_t length;
	char *bytes = put_gzip_lines(&length);
	int lines, fd;

	(void)state;
	source_on_damage(tell);
	put_file("gz", bytes, length / 2);
	assert_int_equal(source_follow(&source, "gz", NULL), 0);
	lines = count_lines();
	assert_true(lines > 100 && !source.cut_off);
	fd = open("gz", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, bytes + length / 2, length - length / 2), length - length / 2);
	close(fd);
	assert_int_equal(lines + count_lines(), 20000);
	assert_false(source.cut_off || told);
	free(bytes);
}

/* ---- files that grow ----------------------------------------------------------------------------------------- */

static void a_followed_file_gives_whole_lines_alone(void **state)
{
	int fd;

	(void)state;
	put_text("plain", "a\nb");
	fd = open("plain", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(source_follow(&source, "plain", NULL), 0);
	assert_true(next_line_is("a"));
	assert_end(false);
	assert_int_equal(write(fd, "c\nd", 3), 3);
	assert_true(next_line_is("bc"));
	assert_end(false);
	assert_int_equal(write(fd, "\n", 1), 1);
	assert_true(next_line_is("d"));
	close(fd);
}

static void an_empty_pipe_is_not_waited_for(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	fd = open("pipe", O_RDWR | O_CLOEXEC);
	assert_int_equal(source_follow(&source, "pipe", NULL), 0);
	assert_end(false);
	assert_int_equal(write(fd, "a\n", 2), 2);
	assert_true(next_line_is("a"));
	assert_end(false);
	close(fd);
}

/* ---- which files --------------------------------------------------------------------------------------------- */

static void only_a_plain_file_has_any_number_of_damaged_lines(void **state)
{
	(void)state;
	add_gzip("a\nb\n", 4, 1);
	put_text("plain", "a\n");
	open_it("gz");
	assert_int_equal(source_next_line_after(&source, SOURCE_DAMAGED_LINES - 1, &line), 1);
	assert_int_equal(source_next_line_after(&source, SOURCE_DAMAGED_LINES, &line), 0);
	open_it("plain");
	assert_int_equal(source_next_line_after(&source, SOURCE_DAMAGED_LINES, &line), 1);
}

static void assert_not_opened(const char *path, int error, const char *wanted)
{
	struct rt_problem problem = {""};

	assert_int_equal(source_open(&source, path, &problem), error);
	assert_string_equal(problem.text, wanted);
}

static void the_reason_of_a_file_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	assert_not_opened("absent", -ENOENT, "absent: No such file or directory");
	assert_not_opened(".", -EISDIR,
			  ".: a folder; name the recordings in it (summary, report and recommend -j take the "
			  "folder of a workflow)");
	/* The page at 0 is never there. */
	assert_not_opened("/proc/self/mem", -EIO, "/proc/self/mem: Input/output error");
}

static void standard_input_stays_open(void **state)
{
	int kept = dup(STDIN_FILENO), fd;

	(void)state;
	put_text("plain", "a\n");
	fd = open("plain", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	open_it("-");
	assert_true(source.fd > 2);
	assert_true(next_line_is("a"));
	source_close(&source);
	assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_CUR), 2);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

#define SOURCE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		SOURCE_TEST(lines_end_with_either_end_or_with_the_file),
		SOURCE_TEST(the_mark_of_spreadsheets_is_skipped),
		SOURCE_TEST(bytes_are_seen_before_they_are_read),
		SOURCE_TEST(a_file_of_several_pieces_is_read_to_its_end),
		SOURCE_TEST(a_line_may_have_8_mib),
		SOURCE_TEST(a_gzip_file_may_have_64_mib_without_text),
		SOURCE_TEST(a_long_line_counts_with_the_blank_ones_before_it),
		SOURCE_TEST(a_plain_file_may_have_a_hole_behind_its_first_line),
		SOURCE_TEST(damage_of_a_gzip_file_is_told_and_a_cut_is_not),
		SOURCE_TEST(a_gzip_file_that_is_being_written_is_not_cut_off),
		SOURCE_TEST(a_followed_file_gives_whole_lines_alone),
		SOURCE_TEST(an_empty_pipe_is_not_waited_for),
		SOURCE_TEST(only_a_plain_file_has_any_number_of_damaged_lines),
		SOURCE_TEST(the_reason_of_a_file_that_cannot_be_read_is_told),
		SOURCE_TEST(standard_input_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
