/* Tests of src/export/output.c: a file appears when it is complete, and no file is lost by mistake. */
#include "captured.h"

#include <dirent.h>
#include <errno.h>
#include <sys/file.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "export/output.h"
#include "resource_tracker_internal.h"

static struct rt_problem problem;

#define RECORDING "{\"timestamp_secs\":1700000000,\"resource-tracker-version\":\"0.1.0\"}\n"
#define RUNS "{\"schema\":1,\"id\":\"a\",\"outcome\":\"ok\",\"started\":5}\n"

static void add_text(struct output *output, const char *text)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(1 << 20);

	buffer_add_text(&bytes, text);
	output_write(output, &bytes);
	assert_int_equal(bytes.length, 0);
}

static size_t files_here(void)
{
	DIR *folder = opendir(".");
	size_t count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count - 2;
}

static void a_file_appears_when_it_is_complete(void **state)
{
	struct output output;

	(void)state;
	put_text("f", "old");
	assert_int_equal(output_open(&output, "f", false, &problem), 0);
	add_text(&output, "one ");
	add_text(&output, "two");
	assert_file_text("f", "old");
	assert_int_equal(files_here(), 2);
	assert_int_equal(output_finish(&output, &problem), 0);
	output_close(&output);
	assert_file_text("f", "one two");
	assert_int_equal(files_here(), 1);
	/* An unfinished file goes. */
	assert_int_equal(output_open(&output, "f", false, &problem), 0);
	add_text(&output, "three");
	output_close(&output);
	assert_file_text("f", "one two");
	assert_int_equal(files_here(), 1);
}

static void long_content_is_written_in_pieces(void **state)
{
	static char piece[100001];
	struct output output;
	size_t length;
	char *text;

	(void)state;
	memset(piece, 'x', sizeof piece - 1);
	assert_int_equal(output_open(&output, "f", false, &problem), 0);
	for (int i = 0; i < 7; i++) {
		add_text(&output, piece);
		/* 256 KiB wait at most. */
		assert_true(output.pending.length < 256 << 10);
	}
	assert_int_equal(output_finish(&output, &problem), 0);
	output_close(&output);
	text = get_file("f", &length);
	assert_int_equal(length, 700000);
	assert_int_equal(strspn(text, "x"), 700000);
	free(text);
}

static void compressed_content_is_one_member(void **state)
{
	char text[64] = "";
	struct output output;
	gzFile file;

	(void)state;
	assert_int_equal(output_open(&output, "f.gz", true, &problem), 0);
	add_text(&output, "one ");
	add_text(&output, "two");
	assert_int_equal(output_finish(&output, &problem), 0);
	output_close(&output);
	file = gzopen("f.gz", "rb");
	assert_int_equal(gzread(file, text, sizeof text), 7);
	assert_false(gzdirect(file));
	gzclose(file);
	assert_string_equal(text, "one two");
}

static void without_a_name_the_content_stays_in_memory(void **state)
{
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, NULL, false, &problem), 0);
	add_text(&output, "one");
	assert_int_equal(output_finish(&output, &problem), 0);
	assert_string_equal(output.pending.data, "one");
	output_close(&output);
	assert_int_equal(files_here(), 2); /* the captured streams */
}

static void descriptors_have_names(void **state)
{
	char name[32], other[32];
	int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	snprintf(name, sizeof name, "/dev/fd/%d", fd);
	snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
	assert_int_equal(rt_output_write(name, "one ", 4, &problem), 0);
	assert_int_equal(rt_output_write(other, "two", 3, &problem), 0);
	assert_file_text("f", "one two");
	assert_int_equal(rt_output_write("-", "a", 1, &problem), 0);
	assert_int_equal(rt_output_write(NULL, "b", 1, &problem), 0);
	assert_int_equal(rt_output_write("/dev/stdout", "c", 1, &problem), 0);
	assert_int_equal(rt_output_write("/dev/stderr", "d", 1, &problem), 0);
	assert_printed("out", "abc");
	assert_printed("err", "d");
	close(fd);
	assert_int_equal(rt_output_write(name, "x", 1, &problem), -EBADF);
	assert_non_null(strstr(problem.text, "cannot write to /dev/fd/"));
}

static void a_device_is_written_in_place(void **state)
{
	(void)state;
	assert_int_equal(rt_output_write("/dev/null", "x", 1, &problem), 0);
	assert_int_equal(rt_output_write("/dev/full", "x", 1, &problem), -ENOSPC);
	assert_non_null(strstr(problem.text, "/dev/full: No space left on device"));
}

static void links_lead_to_the_file_that_is_replaced(void **state)
{
	(void)state;
	assert_int_equal(mkdir("d", 0755), 0);
	put_text("d/f", "old");
	assert_int_equal(symlink("d/link", "first") | symlink("f", "d/link"), 0);
	assert_int_equal(rt_output_write("first", "new", 3, &problem), 0);
	assert_file_text("d/f", "new");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(rt_output_write("loop", "new", 3, &problem), -ELOOP);
	assert_string_equal(problem.text, "cannot write to loop: Too many levels of symbolic links");
	assert_int_equal(symlink("new-file", "ahead"), 0);
	assert_int_equal(rt_output_write("ahead", "new", 3, &problem), 0);
	assert_file_text("new-file", "new");
}

static void closing_twice_closes_no_other_descriptor(void **state)
{
	struct output output;
	int opened;

	(void)state;
	assert_int_equal(output_open(&output, "f.gz", true, &problem), 0);
	opened = output.fd;
	output_close(&output);
	assert_int_equal(fcntl(opened, F_GETFD), -1);
	output_close(&output);
	for (int fd = 0; fd < 3; fd++)
		assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_int_equal(files_here(), 2); /* the captured streams */
}

static void a_chain_of_links_may_have_fifteen(void **state)
{
	char name[8], before[8] = "f";

	(void)state;
	for (int i = 1; i <= 16; i++) {
		snprintf(name, sizeof name, "l%d", i);
		assert_int_equal(symlink(before, name), 0);
		assert_int_equal(rt_output_write(name, "x", 1, &problem), i < 16 ? 0 : -ELOOP);
		memcpy(before, name, sizeof name);
	}
	assert_file_text("f", "x");
}

/* The file of the output needs a longer name while it is written. */
static void a_name_may_be_too_long_for_a_file_beside_it(void **state)
{
	char name[251];

	(void)state;
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	assert_int_equal(rt_output_write(name, "x", 1, &problem), -ENAMETOOLONG);
	assert_int_equal(files_here(), 0);
}

static int check(const char *path, bool replace)
{
	const char *const inputs[] = {NULL, "input"};

	problem.text[0] = '\0';
	return rt_output_check(path, inputs, 2, replace, &problem);
}

static void places_without_a_file_to_write_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(check("d", true), -EISDIR);
	assert_int_equal(check("none/f", true), -ENOENT);
	assert_int_equal(check("", true), -ENOENT);
	assert_string_equal(problem.text, "cannot write to '': it names no file");
	assert_int_equal(check("f", false), 0);
	assert_int_equal(check("-", false), 0);
	assert_int_equal(check("/dev/null", false), 0);
	assert_int_equal(rt_output_write("none/f", "x", 1, &problem), -ENOENT);
}

static void recordings_are_replaced_on_request(void **state)
{
	char name[32];
	int fd;

	(void)state;
	put_text("r.jsonl", RECORDING);
	put_text("runs.jsonl", RUNS);
	put_text("text", "x");
	assert_int_equal(check("text", false), 0);
	assert_int_equal(check("r.jsonl", false), -EEXIST);
	assert_non_null(strstr(problem.text, "it is a recording; --force replaces it"));
	assert_int_equal(check("runs.jsonl", false), -EEXIST);
	assert_non_null(strstr(problem.text, "it has lines of runs"));
	assert_int_equal(check("r.jsonl", true) | check("runs.jsonl", true), 0);
	/* A descriptor is written in place, whatever file it is of. */
	fd = open("r.jsonl", O_RDWR | O_CLOEXEC);
	snprintf(name, sizeof name, "/dev/fd/%d", fd);
	assert_int_equal(check(name, false), 0);
	close(fd);
	fd = open("r.jsonl", O_RDONLY | O_CLOEXEC);
	/* A file that is open already is written in its place. */
	snprintf(name, sizeof name, "/dev/fd/%d", fd);
	assert_int_equal(check(name, false), 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(check("r.jsonl", true), -EBUSY);
	assert_non_null(strstr(problem.text, "a recorder is writing to it"));
	close(fd);
}

/* A new file and an old one: the file of the output is made beside it. */
static void a_folder_without_rights_takes_no_output(void **state)
{
	int old, new, link, is_root = geteuid() == 0;

	(void)state;
	put_text("f", "x");
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(chmod(".", 0555), 0);
	if (is_root)
		assert_int_equal(seteuid(4321), 0);
	old = check("f", true);
	link = check("link", true);
	new = check("g", true);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(old, -EACCES);
	assert_int_equal(link, -EACCES);
	assert_int_equal(new, -EACCES);
	assert_string_equal(problem.text, "cannot write to g: its folder takes no new file from this user; "
					  "choose another folder");
}

/* The marks tell of the recording that goes. */
static void marks_go_with_their_recording(void **state)
{
	(void)state;
	put_text("r.jsonl", RECORDING);
	put_text("r.jsonl.marks", "x");
	put_text("text", "x");
	put_text("text.marks", "x");
	assert_int_equal(rt_output_write("r.jsonl", "new", 3, &problem), 0);
	assert_int_equal(access("r.jsonl.marks", F_OK), -1);
	assert_int_equal(rt_output_write("text", "new", 3, &problem), 0);
	assert_int_equal(access("text.marks", F_OK), 0);
	assert_int_equal(output_rename("none", "text"), -ENOENT);
}

static void an_input_and_its_marks_are_never_replaced(void **state)
{
	(void)state;
	put_text("input", "x");
	put_text("input.marks", "x");
	put_text("other", "x");
	assert_int_equal(symlink("input", "link"), 0);
	assert_int_equal(check("input", true), -EINVAL);
	assert_non_null(strstr(problem.text, "it is what is read"));
	assert_int_equal(check("link", true), -EINVAL);
	assert_int_equal(check("input.marks", true), -EINVAL);
	assert_int_equal(check("other", true), 0);
	assert_int_equal(link("input", "other.marks"), 0);
	assert_int_equal(check("other", true), -EINVAL);
	assert_non_null(strstr(problem.text, "the marks beside it are read"));
	assert_int_equal(output_check_inputs(NULL, NULL, 0, &problem), 0);
}

static void a_writer_by_name_gets_an_empty_file_beside_its_own(void **state)
{
	char *name = NULL, *temporary = NULL;

	(void)state;
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(output_name_whole_file("link", &name, &temporary, &problem), 0);
	assert_string_equal(name, "f");
	assert_int_equal(strncmp(temporary, "f.", 2), 0);
	assert_file_text(temporary, "");
	free(name);
	free(temporary);
	name = temporary = NULL;
	assert_int_equal(output_name_whole_file("-", &name, &temporary, &problem), -EINVAL);
	assert_int_equal(output_name_whole_file("none/f", &name, &temporary, &problem), -ENOENT);
	assert_null(name);
}

/* Content that does not fit into memory is an error, and no half of a file appears. */
static void content_that_is_too_long_leaves_no_file(void **state)
{
	static const char TEXT[] = "longer than four bytes";

	(void)state;
	for (int named = 0; named < 2; named++) {
		CLEANUP_BUFFER struct buffer bytes = BUFFER(4);
		struct output output;

		assert_int_equal(output_open(&output, named ? "f" : NULL, false, &problem), 0);
		buffer_add_text(&bytes, TEXT);
		output_write(&output, &bytes);
		assert_int_equal(output_finish(&output, &problem), -ENOBUFS);
		output_close(&output);
		assert_int_equal(output.fd, -1);
		assert_int_equal(files_here(), 0);
		/* The same for bytes that wait to be written. */
		assert_int_equal(output_open(&output, named ? "f" : NULL, false, &problem), 0);
		output.pending.ceiling = 4;
		buffer_add_text(&output.pending, TEXT);
		assert_int_equal(output_finish(&output, &problem), -ENOBUFS);
		output_close(&output);
		assert_int_equal(files_here(), 0);
	}
}

static void long_content_is_compressed_in_pieces(void **state)
{
	static char piece[100001], whole[800000];
	struct output output;
	gzFile file;

	(void)state;
	for (size_t i = 0; i < sizeof piece - 1; i++)
		piece[i] = (char)('a' + (i * i / 7) % 26);
	assert_int_equal(output_open(&output, "f.gz", true, &problem), 0);
	for (int i = 0; i < 7; i++)
		add_text(&output, piece);
	assert_int_equal(output_finish(&output, &problem), 0);
	output_close(&output);
	file = gzopen("f.gz", "rb");
	assert_int_equal(gzread(file, whole, sizeof whole), 700000);
	gzclose(file);
	for (int i = 0; i < 7; i++)
		assert_memory_equal(whole + i * 100000, piece, 100000);
}

static void a_full_device_takes_no_compressed_content(void **state)
{
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, "/dev/full", true, &problem), 0);
	add_text(&output, "one");
	assert_int_equal(output_finish(&output, &problem), -ENOSPC);
	output_close(&output);
	/* It is closed before its end is written. */
	assert_int_equal(output_open(&output, "f.gz", true, &problem), 0);
	add_text(&output, "one");
	output_close(&output);
	assert_int_equal(files_here(), 0);
}

/* In a folder of all users, only our files and those of its owner are used. */
static void planted_links_and_fifos_are_refused(void **state)
{
	static const struct {
		const char *path;
		mode_t mode;
		uid_t owner;
		int result;
	} CASES[] = {
		{"d/link", 01777, 4321, -EPERM}, {"d/link", 01777, 0, 0},    {"d/link", 01777, 99, 0},
		{"d/link", 0777, 4321, 0},       {"d/link", 01775, 4321, 0}, {"d/fifo", 01777, 4321, -EPERM},
		{"d/fifo", 01777, 99, 0},        {"d/fifo", 0777, 4321, 0},
	};

	(void)state;
	if (geteuid() != 0)
		SKIP("only root can give files away");
	assert_int_equal(mkdir("d", 0777) | chown("d", 99, 99), 0);
	put_text("target", "x");
	assert_int_equal(symlink("../target", "d/link") | mkfifo("d/fifo", 0666), 0);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		assert_int_equal(chmod("d", CASES[i].mode), 0);
		assert_int_equal(lchown(CASES[i].path, CASES[i].owner, CASES[i].owner), 0);
		if (check(CASES[i].path, true) != CASES[i].result)
			fail_msg("%s of %d in a folder with mode %o: '%s'", CASES[i].path,
				 (int)CASES[i].owner, CASES[i].mode, problem.text);
		if (CASES[i].result)
			assert_non_null(strstr(problem.text, "in a folder that everyone may write to"));
	}
}

/* Names that only look like a descriptor's are those of files. */
static void the_number_of_a_descriptor_has_limits(void **state)
{
	(void)state;
	assert_int_equal(rt_output_write("/dev/fd/2147483647", "x", 1, &problem), -EBADF);
	assert_int_equal(rt_output_write("/dev/fd/2147483648", "x", 1, &problem), -ENOENT);
	assert_true(rt_output_write("/dev/fd/1x", "x", 1, &problem) < 0);
	assert_true(rt_output_write("/dev/fd/", "x", 1, &problem) < 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_file_appears_when_it_is_complete),
		unit_test_in_scratch(long_content_is_written_in_pieces),
		unit_test_in_scratch(compressed_content_is_one_member),
		unit_test_captured(closing_twice_closes_no_other_descriptor),
		unit_test_captured(without_a_name_the_content_stays_in_memory),
		unit_test_captured(descriptors_have_names),
		unit_test_in_scratch(a_device_is_written_in_place),
		unit_test_in_scratch(links_lead_to_the_file_that_is_replaced),
		unit_test_in_scratch(a_chain_of_links_may_have_fifteen),
		unit_test_in_scratch(a_name_may_be_too_long_for_a_file_beside_it),
		unit_test_in_scratch(places_without_a_file_to_write_are_refused),
		unit_test_in_scratch(recordings_are_replaced_on_request),
		unit_test_in_scratch(a_folder_without_rights_takes_no_output),
		unit_test_in_scratch(marks_go_with_their_recording),
		unit_test_in_scratch(an_input_and_its_marks_are_never_replaced),
		unit_test_in_scratch(a_writer_by_name_gets_an_empty_file_beside_its_own),
		unit_test_in_scratch(content_that_is_too_long_leaves_no_file),
		unit_test_in_scratch(long_content_is_compressed_in_pieces),
		unit_test_in_scratch(a_full_device_takes_no_compressed_content),
		unit_test_in_scratch(planted_links_and_fifos_are_refused),
		unit_test_in_scratch(the_number_of_a_descriptor_has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
