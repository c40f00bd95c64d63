/* Tests of src/sink/tail_repair.c. */
#include "scratch.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "format/gzip_member.h"
#include "sink/tail_repair.h"

static struct tail_repair repair_bytes(enum line_format text, const void *bytes, size_t length)
{
	struct tail_repair repair = {-1, false};
	int fd;

	put_file("file", bytes, length);
	fd = open("file", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_int_equal(repair_tail(fd, text, &repair), 0);
	close(fd);
	return repair;
}

static void assert_repaired(enum line_format text, const char *before, const char *after)
{
	struct tail_repair repair = repair_bytes(text, before, strlen(before));
	size_t length, newline;
	char *found = get_file("file", &length);

	assert_string_equal(found, after);
	newline = repair.terminated ? 1 : 0;
	assert_int_equal(length + (size_t)repair.cut_bytes, strlen(before) + newline);
	free(found);
}

static void compressed_files_end_with_a_whole_member(void **state)
{
	enum { MEMBERS = 900 };
	CLEANUP_BUFFER struct buffer members = BUFFER(1 << 20);
	size_t first, each, whole;

	(void)state;
	gzip_member_add(&members, "{}\n", 3, false);
	first = members.length;
	for (int i = 0; i < MEMBERS; i++)
		gzip_member_add(&members, "{\"a\":1}\n", 8, false);
	whole = members.length;
	each = (whole - first) / MEMBERS;
	assert_int_equal(repair_bytes(MEMBERS_JSON, members.data, 0).cut_bytes, 0);
	for (size_t length = MEMBER_HEAD_BYTES; length < first; length++)
		assert_int_equal(repair_bytes(MEMBERS_JSON, members.data, length).cut_bytes, length);
	assert_int_equal(repair_bytes(MEMBERS_JSON, "another program's", 17).cut_bytes, 0);
	/* The torn member begins in the last block of the file, and then in the one before. */
	for (size_t length = whole - 2 * each; length <= whole; length++)
		assert_int_equal(repair_bytes(MEMBERS_JSON, members.data, length).cut_bytes,
				 (length - first) % each);
	for (int i = 0; i < 40000; i++)
		buffer_add_char(&members, '\0');
	assert_int_equal(repair_bytes(MEMBERS_JSON, members.data, members.length).cut_bytes, 40000);
	/* Each place of a head beside the border of a block. */
	for (size_t more = 16300; more < 16400; more++)
		assert_int_equal(repair_bytes(MEMBERS_JSON, members.data, whole + more).cut_bytes, more);
}

static void whole_files_stay_as_they_are(void **state)
{
	(void)state;
	assert_repaired(LINES_JSON, "", "");
	assert_repaired(LINES_JSON, "\n", "\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n");
	assert_repaired(LINES_CSV, "timestamp,x\n1.000,2\n", "timestamp,x\n1.000,2\n");
	/* A torn line in the middle is left to the readers. */
	assert_repaired(LINES_JSON, "{\"a\":\n{\"b\":2}\n", "{\"a\":\n{\"b\":2}\n");
}

static void a_torn_record_is_cut(void **state)
{
	(void)state;
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":\"}", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":\"\\\"}", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":{\"c\":[1]}", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":1}{\"c\"", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"only\":", "");
	assert_repaired(LINES_CSV, "timestamp,x\n1.000,2\n2.00", "timestamp,x\n1.000,2\n");
	assert_repaired(LINES_CSV, "timestamp,x\n1.000,2", "timestamp,x\n");
	assert_repaired(LINES_CSV, "timestamp,x\n,5", "timestamp,x\n");
	assert_repaired(LINES_CSV, "timestamp,x\n0", "timestamp,x\n");
	assert_repaired(LINES_CSV, "timestamp,x\n9,5", "timestamp,x\n");
	assert_repaired(LINES_CSV, "timest", "");
	assert_repaired(LINES_CSV, "\"timestamp\",\"cpu", "");
}

static void a_complete_object_only_gets_its_newline(void **state)
{
	(void)state;
	assert_repaired(LINES_JSON, "{\"a\":1}", "{\"a\":1}\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n{\"b\":[{\"c\":\"}{\\\"\"}]}",
			"{\"a\":1}\n{\"b\":[{\"c\":\"}{\\\"\"}]}\n");
	assert_repaired(LINES_JSON, "{\"a\":1} \t\r", "{\"a\":1} \t\r\n");
}

static void text_of_others_is_never_cut(void **state)
{
	(void)state;
	assert_repaired(LINES_JSON, "my thesis, last line", "my thesis, last line\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\nnote", "{\"a\":1}\nnote\n");
	assert_repaired(LINES_CSV, "text of mine", "text of mine\n");
	assert_repaired(LINES_CSV, "/path", "/path\n");
	assert_repaired(LINES_CSV, ":9", ":9\n");
	/* Only the first line is a header. */
	assert_repaired(LINES_CSV, "timestamp,x\ntimest", "timestamp,x\ntimest\n");
	assert_repaired(LINES_JSON, "{\"a\":1}\n[1", "{\"a\":1}\n[1\n");
	assert_repaired(LINES_CSV, "timestamp,x\n1,2\n# note", "timestamp,x\n1,2\n# note\n");
}

static void in_the_file_of_another_program_only_our_line_is_cut(void **state)
{
	(void)state;
	assert_repaired(LINES_OTHER, "log\n1,2", "log\n1,2\n");
	assert_repaired(LINES_OTHER, "log\n{\"a\":", "log\n{\"a\":\n");
	assert_repaired(LINES_OTHER, "log\n{\"timestamp_", "log\n{\"timestamp_\n");
	assert_repaired(LINES_OTHER, "log\n{\"timestamp_s", "log\n");
	assert_repaired(LINES_OTHER, "log\n{\"timestamp_secs\":1}", "log\n{\"timestamp_secs\":1}\n");
	assert_int_equal(repair_bytes(LINES_OTHER, "text\0\0", 6).cut_bytes, 0);
	assert_int_equal(repair_bytes(LINES_OTHER, "text\n\0\0", 7).cut_bytes, 0);
}

static void nuls_of_a_power_loss_go(void **state)
{
	static char bytes[100000];
	struct tail_repair repair;

	(void)state;
	repair = repair_bytes(LINES_JSON, bytes, sizeof bytes);
	assert_int_equal(repair.cut_bytes, sizeof bytes);
	assert_file_text("file", "");

	memcpy(bytes, "{\"a\":1}\n", 8);
	repair = repair_bytes(LINES_JSON, bytes, sizeof bytes);
	assert_int_equal(repair.cut_bytes, sizeof bytes - 8);
	assert_file_text("file", "{\"a\":1}\n");

	memcpy(bytes + 8, "{\"b\":", 5);
	repair = repair_bytes(LINES_JSON, bytes, sizeof bytes);
	assert_int_equal(repair.cut_bytes, sizeof bytes - 8);
	assert_file_text("file", "{\"a\":1}\n");

	memcpy(bytes + 8, "{\"b\":2}", 7);
	repair = repair_bytes(LINES_JSON, bytes, sizeof bytes);
	assert_true(repair.terminated);
	assert_file_text("file", "{\"a\":1}\n{\"b\":2}\n");

	/* With a hole inside, the line is incomplete, whatever its brackets say. */
	memcpy(bytes + 8, "{\"b\0\":2}", 8);
	repair_bytes(LINES_JSON, bytes, sizeof bytes);
	assert_file_text("file", "{\"a\":1}\n");
}

/* The newline before the torn line at every position around the borders of the blocks that are read. */
static void block_borders_do_not_matter(void **state)
{
	enum { BLOCK = 16384 };
	char *bytes = malloc(3 * BLOCK + 16);

	(void)state;
	assert_non_null(bytes);
	for (size_t line = BLOCK - 3; line <= BLOCK + 3; line++) {
		for (size_t torn = 2 * BLOCK - 3; torn <= 2 * BLOCK + 3; torn++) {
			struct tail_repair repair;

			memset(bytes, 'x', line + torn);
			bytes[line - 1] = '\n';
			bytes[line] = '{';
			repair = repair_bytes(LINES_JSON, bytes, line + torn);
			assert_int_equal(repair.cut_bytes, torn);
			assert_false(repair.terminated);
		}
	}
	free(bytes);
}

static void a_line_of_a_gibibyte_needs_no_memory(void **state)
{
	const off_t size = (off_t)1 << 30;
	struct tail_repair repair;
	struct stat status;
	int fd;

	(void)state;
	put_text("file", "{\"a\":1}\n{\"b\":");
	fd = open("file", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(repair_tail(fd, LINES_JSON, &repair), 0);
	assert_int_equal(repair.cut_bytes, size + 1 - 8);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, 8);
	close(fd);
}

/* Whether the file has the flags now. ext4 was seen to set them although it returned EOPNOTSUPP. */
static bool set_flags(int fd, int wanted)
{
	int flags = -1;

	(void)ioctl(fd, FS_IOC_SETFLAGS, &wanted);
	return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_APPEND_FL) == (wanted & FS_APPEND_FL);
}

static void a_file_that_only_grows_is_terminated(void **state)
{
	int fd, r;
	struct tail_repair repair = {0};

	(void)state;
	put_text("file", "{\"a\":1}\n{\"b\":");
	fd = open("file", O_RDWR | O_APPEND | O_CLOEXEC);
	if (!set_flags(fd, FS_APPEND_FL)) {
		close(fd);
		print_message("# no append-only attribute here\n");
		skip();
	}
	r = repair_tail(fd, LINES_JSON, &repair);
	assert_true(set_flags(fd, 0));
	close(fd);
	assert_int_equal(r, 0);
	assert_int_equal(repair.cut_bytes, 0);
	assert_true(repair.terminated);
	assert_file_text("file", "{\"a\":1}\n{\"b\":\n");
}

static void errors_leave_the_answer_alone(void **state)
{
	struct tail_repair repair = {77, true};

	(void)state;
	assert_int_equal(repair_tail(-1, LINES_CSV, &repair), -EBADF);
	assert_int_equal(repair.cut_bytes, 77);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(compressed_files_end_with_a_whole_member),
		unit_test_in_scratch(whole_files_stay_as_they_are),
		unit_test_in_scratch(a_torn_record_is_cut),
		unit_test_in_scratch(a_complete_object_only_gets_its_newline),
		unit_test_in_scratch(text_of_others_is_never_cut),
		unit_test_in_scratch(in_the_file_of_another_program_only_our_line_is_cut),
		unit_test_in_scratch(nuls_of_a_power_loss_go),
		unit_test_in_scratch(block_borders_do_not_matter),
		unit_test_in_scratch(a_line_of_a_gibibyte_needs_no_memory),
		unit_test_in_scratch(a_file_that_only_grows_is_terminated),
		cmocka_unit_test(errors_leave_the_answer_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
