/* Tests of src/history/history_store.c: the files of a history, also on a full disk. */
#include "small_disk.h"

#include <zlib.h>

#include "history/history_store.h"

static int folder_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static void add_bytes(struct buffer *text, char byte, int count)
{
	while (count-- > 0)
		buffer_add_char(text, byte);
}

/* A full disk has no room for a new file: the lines that are left take the place of the old ones. */
static void lines_are_shortened_on_a_full_disk(void **state)
{
	struct buffer lines = BUFFER(1 << 16), fewer = BUFFER(1 << 16);
	char *text, partial[64];
	int folder;

	(void)state;
	require_small_disk();
	folder = folder_of("disk");
	add_bytes(&lines, 'a', 9000);
	add_bytes(&fewer, 'b', 5000);
	assert_int_equal(history_append(folder, &lines), 0);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(history_replace_lines(folder, &fewer), 0);
	text = get_file("disk/runs.jsonl", NULL);
	assert_string_equal(text, fewer.data);
	free(text);
	/* Those of the same length fit, and longer ones do not. */
	memset(fewer.data, 'c', fewer.length);
	assert_int_equal(history_replace_lines(folder, &fewer), 0);
	text = get_file("disk/runs.jsonl", NULL);
	assert_string_equal(text, fewer.data);
	assert_int_equal(history_replace_lines(folder, &lines), -ENOSPC);
	assert_file_text("disk/runs.jsonl", fewer.data);
	free(text);
	/* No unfinished file stays. */
	snprintf(partial, sizeof partial, "0.%d.partial", (int)getpid());
	assert_int_equal(faccessat(folder, partial, F_OK, 0), -1);
	close(folder);
	buffer_done(&lines);
	buffer_done(&fewer);
}

static void a_full_disk_leaves_lines_and_links_alone(void **state)
{
	struct buffer lines = BUFFER(1 << 16);
	struct stat status;
	int folder;

	(void)state;
	require_small_disk();
	folder = folder_of("disk");
	add_bytes(&lines, 'a', 9000);
	put_text("disk/target", "kept");
	assert_int_equal(symlink("target", "disk/runs.jsonl"), 0);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(history_replace_lines(folder, &lines), -ELOOP);
	assert_file_text("disk/target", "kept");
	assert_int_equal(unlink("disk/runs.jsonl"), 0);
	assert_int_equal(history_replace_lines(folder, &lines), -ENOENT);
	/* A page takes a part of the lines: the caller is told. */
	assert_int_equal(unlink("disk/filler"), 0);
	fill_small_disk("disk/filler", 4096);
	assert_int_equal(history_append(folder, &lines), -ENOSPC);
	assert_int_equal(stat("disk/runs.jsonl", &status), 0);
	assert_true(status.st_size > 0 && (size_t)status.st_size < lines.length);
	close(folder);
	buffer_done(&lines);
}

static void an_unfinished_file_of_lines_is_replaced(void **state)
{
	struct buffer line = BUFFER(100);
	int folder = folder_of(".");
	char partial[64];

	(void)state;
	snprintf(partial, sizeof partial, "0.%d.partial", (int)getpid());
	put_text(partial, "torn");
	buffer_add_text(&line, "a\n");
	/* A folder keeps its place, and the caller is told. */
	assert_int_equal(mkdir("runs.jsonl", 0700), 0);
	assert_int_equal(history_replace_lines(folder, &line), -EISDIR);
	assert_int_equal(access(partial, F_OK), -1);
	assert_int_equal(rmdir("runs.jsonl"), 0);
	put_text(partial, "torn");
	assert_int_equal(history_replace_lines(folder, &line), 0);
	assert_file_text("runs.jsonl", "a\n");
	assert_int_equal(access(partial, F_OK), -1);
	buffer_done(&line);
	close(folder);
}

/* A read takes up to 256 KiB at once. */
static void a_text_of_the_room_for_one_read_takes_lines(void **state)
{
	struct buffer text = BUFFER(256 << 10), small = BUFFER((256 << 10) - 1);
	int folder = folder_of(".");

	(void)state;
	put_text("runs.jsonl", "a\n");
	assert_int_equal(history_read_lines(folder, &text), 1);
	assert_string_equal(text.data, "a\n");
	assert_int_equal(history_read_lines(folder, &small), 1);
	assert_int_equal(small.length, 0);
	buffer_done(&text);
	buffer_done(&small);
	close(folder);
}

static void links_and_fifos_hold_no_lines(void **state)
{
	struct buffer text = BUFFER(1 << 20), line = BUFFER(100);
	int folder = folder_of(".");

	(void)state;
	buffer_add_text(&line, "a\n");
	put_text("target", "x\n");
	assert_int_equal(symlink("target", "runs.jsonl"), 0);
	assert_int_equal(history_read_lines(folder, &text), -ELOOP);
	assert_int_equal(history_append(folder, &line), -ELOOP);
	assert_file_text("target", "x\n");
	/* A new file takes the place of the link. */
	assert_int_equal(history_replace_lines(folder, &line), 0);
	assert_file_text("target", "x\n");
	assert_file_text("runs.jsonl", "a\n");
	assert_int_equal(unlink("runs.jsonl") | mkfifo("runs.jsonl", 0600), 0);
	assert_int_equal(history_read_lines(folder, &text), -EPERM);
	assert_int_equal(text.length, 0);
	buffer_done(&text);
	buffer_done(&line);
	close(folder);
}

static void lines_follow_the_text_that_is_there(void **state)
{
	struct buffer text = BUFFER(2 << 20);
	int folder = folder_of(".");

	(void)state;
	put_text("runs.jsonl", "a\nb\n");
	buffer_add_text(&text, "x\n");
	assert_int_equal(history_read_lines(folder, &text), 0);
	assert_string_equal(text.data, "x\na\nb\n");
	buffer_done(&text);
	close(folder);
}

/* ---- recordings ---------------------------------------------------------------------------------------------- */

/* Text of several MiB that does not get shorter. */
static char *random_text(size_t length)
{
	char *text = malloc(length + 1);
	uint32_t random = 1;

	assert_non_null(text);
	for (size_t i = 0; i < length; i++) {
		random = random * 1664525 + 1013904223;
		text[i] = (char)(1 + (random >> 24) % 255);
	}
	text[length] = '\0';
	return text;
}

static void assert_gzip_text(const char *path, const char *wanted, size_t length)
{
	char *text = malloc(length + 1);
	gzFile file = gzopen(path, "rb");

	assert_true(text && file);
	assert_int_equal(gzread(file, text, (unsigned)length + 1), length);
	assert_memory_equal(text, wanted, length);
	assert_int_equal(gzclose(file), Z_OK);
	free(text);
}

static void a_recording_is_compressed_with_its_marks(void **state)
{
	enum { LENGTH = 3 << 20 };
	char *text = random_text(LENGTH), name[64];
	int folder = folder_of(".");

	(void)state;
	put_file("7.jsonl", text, LENGTH);
	put_text("7.jsonl.marks", "m");
	/* A command of this number was killed. */
	snprintf(name, sizeof name, "7.%d.partial", (int)getpid());
	put_text(name, "x");
	assert_int_equal(history_compress(folder, 7), 0);
	assert_gzip_text("7.jsonl.gz", text, LENGTH);
	assert_file_text("7.jsonl.gz.marks", "m");
	assert_true(access("7.jsonl", F_OK) < 0 && access("7.jsonl.marks", F_OK) < 0 &&
		    access(name, F_OK) < 0);
	/* Nothing is left to compress. */
	assert_int_equal(history_compress(folder, 7), -ENOENT);
	put_text("8.jsonl", "");
	assert_int_equal(history_compress(folder, 8), 0);
	assert_gzip_text("8.jsonl.gz", "", 0);
	free(text);
	close(folder);
}

/* Its plain recording is the only one. */
static void a_recording_whose_compressed_form_gets_no_name_stays(void **state)
{
	int folder = folder_of(".");
	char name[64];

	(void)state;
	put_text("7.jsonl", "text");
	put_text("7.jsonl.marks", "m");
	assert_int_equal(mkdir("7.jsonl.gz", 0700), 0);
	assert_int_equal(history_compress(folder, 7), -EISDIR);
	assert_file_text("7.jsonl", "text");
	assert_file_text("7.jsonl.marks", "m");
	snprintf(name, sizeof name, "7.%d.partial", (int)getpid());
	assert_int_equal(access(name, F_OK), -1);
	/* Nor is a FIFO read. */
	assert_int_equal(mkfifo("8.jsonl", 0600), 0);
	assert_int_equal(history_compress(folder, 8), -EPERM);
	close(folder);
}

static void a_recording_without_room_for_its_compressed_form_stays(void **state)
{
	enum { LENGTH = 40000 };
	char *text = random_text(LENGTH), name[64];
	int folder;

	(void)state;
	require_small_disk();
	folder = folder_of("disk");
	put_file("disk/7.jsonl", text, LENGTH);
	put_text("disk/7.jsonl.marks", "");
	assert_int_equal(history_compress(folder, 7), -ENOSPC);
	assert_file_text("disk/7.jsonl", text);
	snprintf(name, sizeof name, "disk/7.%d.partial", (int)getpid());
	assert_true(access("disk/7.jsonl.gz", F_OK) < 0 && access(name, F_OK) < 0);
	assert_int_equal(access("disk/7.jsonl.marks", F_OK), 0);
	free(text);
	close(folder);
}

static void all_files_of_a_run_are_removed(void **state)
{
	static const char *const NAMES[] = {"7.jsonl", "7.jsonl.gz", "7.jsonl.marks", "7.jsonl.gz.marks"};
	int folder = folder_of(".");

	(void)state;
	for (size_t i = 0; i < 4; i++)
		put_text(NAMES[i], "");
	put_text("77.jsonl", "");
	put_text("7.removed", "");
	history_remove_files(folder, 7);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(access(NAMES[i], F_OK), -1);
	assert_int_equal(access("77.jsonl", F_OK) | access("7.removed", F_OK), 0);
	history_mark_removed(folder, 7, false);
	assert_int_equal(access("7.removed", F_OK), -1);
	history_mark_removed(folder, 7, true);
	assert_int_equal(access("7.removed", F_OK), 0);
	close(folder);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_on_small_disk(lines_are_shortened_on_a_full_disk),
		unit_test_on_small_disk(a_full_disk_leaves_lines_and_links_alone),
		unit_test_in_scratch(an_unfinished_file_of_lines_is_replaced),
		unit_test_in_scratch(a_text_of_the_room_for_one_read_takes_lines),
		unit_test_in_scratch(links_and_fifos_hold_no_lines),
		unit_test_in_scratch(lines_follow_the_text_that_is_there),
		unit_test_in_scratch(a_recording_is_compressed_with_its_marks),
		unit_test_in_scratch(a_recording_whose_compressed_form_gets_no_name_stays),
		unit_test_on_small_disk(a_recording_without_room_for_its_compressed_form_stays),
		unit_test_in_scratch(all_files_of_a_run_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
