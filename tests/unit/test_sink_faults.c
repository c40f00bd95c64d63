/* Tests of src/sink/: system calls that fail, and files that are taken away. A child refuses itself a call, and its parent looks. */
#include "in_child.h"
#include "scratch.h"

#include <errno.h>

#include "base/cleanup.h"
#include "format/gzip_member.h"
#include "sink/file_target.h"
#include "sink/open_output.h"
#include "sink/spool_folder.h"
#include "sink/tail_repair.h"

/* A child exits with it if the kernel has no filters. */
enum { NO_FILTERS = 99 };

static char message[512];
static int wanted_errno;

#define assert_child_is_well(check) \
	do { \
		int code = in_child(check); \
		if (code == NO_FILTERS) \
			SKIP("no system call filters here"); \
		if (code) \
			fail_msg(#check " with errno %d: line %d of each 64", wanted_errno, code); \
	} while (0)
/* The code of a child that was wrong: the low bits of its line. */
#define EXPECT(condition) \
	do { \
		if (!(condition)) \
			return __LINE__ & 63 ? __LINE__ & 63 : 1; \
	} while (0)

static const struct target_options NEW_FILE = {.text = LINES_JSON};

static struct target *open_file(const char *path)
{
	struct target *target = NULL;

	assert_int_equal(target_open(path, &NEW_FILE, &target, message, sizeof message), 0);
	return target;
}

/* ---- writes that fail -------------------------------------------------------------------------------------- */

static struct target *target;

/* The file is lost for good: waiting records are dropped, and the reason is told once. */
static int gone_after_the_error(void)
{
	if (!fail_call(SYS_write, wanted_errno))
		return NO_FILTERS;
	EXPECT(target_write(target, "one\n", 4) == -EPIPE);
	EXPECT(target_status(target).state == TARGET_GONE);
	EXPECT(target_status(target).last_error == -wanted_errno);
	EXPECT(target_status(target).pending_records == 0);
	EXPECT(target_status(target).dropped_records == 1);
	EXPECT(target_take_warning(target, message, sizeof message));
	EXPECT(strstr(message, "cannot write to out any more: ") == message);
	EXPECT(strstr(message, strerror(wanted_errno)));
	EXPECT(!target_take_warning(target, message, sizeof message));
	EXPECT(target_write(target, "two\n", 4) == -EPIPE);
	EXPECT(target_status(target).dropped_records == 2);
	EXPECT(!target_take_warning(target, message, sizeof message));
	/* It is given up, so no new file would help. */
	EXPECT(unlink("out") == 0 && !target_lost_its_name(target, true));
	return 0;
}

/* A later write may work. */
static int kept_after_the_error(void)
{
	if (!fail_call(SYS_write, wanted_errno))
		return NO_FILTERS;
	EXPECT(target_write(target, "one\n", 4) == -EAGAIN);
	EXPECT(target_write(target, "second\n", 7) == -EAGAIN);
	EXPECT(target_status(target).state == TARGET_STALLED);
	EXPECT(target_status(target).pending_records == 2);
	EXPECT(target_status(target).pending_bytes == 11);
	EXPECT(target_status(target).dropped_records == 0);
	EXPECT(target_take_warning(target, message, sizeof message));
	EXPECT(strstr(message, "cannot write to out: ") == message);
	EXPECT(strstr(message, "; samples are kept, and are lost if it lasts until the end"));
	EXPECT(!target_take_warning(target, message, sizeof message));
	EXPECT(target_flush(target, 0) == -EAGAIN);
	return 0;
}

static void errors_end_a_file_or_pass(void **state)
{
	static const int GONE[] = {EBADF, ECONNRESET, ECONNABORTED, ENOTCONN, ENXIO, ENODEV, ESTALE},
			 PASS[] = {EIO, ENOSPC, EDQUOT, EFBIG, EROFS};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < sizeof GONE / sizeof GONE[0] + sizeof PASS / sizeof PASS[0]; i++) {
		bool is_gone = i < sizeof GONE / sizeof GONE[0];

		wanted_errno = is_gone ? GONE[i] : PASS[i - sizeof GONE / sizeof GONE[0]];
		target = open_file("out");
		assert_child_is_well(is_gone ? gone_after_the_error : kept_after_the_error);
		target_close(target, 0);
	}
}

/* ---- the end of a file that cannot be repaired ------------------------------------------------------------- */

static int torn_line_cannot_be_cut(void)
{
	struct tail_repair repair = {.cut_bytes = 77};
	int fd = open("torn", O_RDWR | O_APPEND | O_CLOEXEC);

	if (!fail_call(SYS_ftruncate, EPERM))
		return NO_FILTERS;
	EXPECT(repair_tail(fd, LINES_JSON, &repair) == 0);
	EXPECT(repair.cut_bytes == 0 && repair.terminated);
	return 0;
}

static int torn_line_cannot_be_ended(void)
{
	struct tail_repair repair = {.cut_bytes = 77};
	int fd = open("torn", O_RDWR | O_APPEND | O_CLOEXEC);

	if (!fail_call(SYS_ftruncate, EPERM) || !fail_call(SYS_write, ENOSPC))
		return NO_FILTERS;
	EXPECT(repair_tail(fd, LINES_JSON, &repair) == -ENOSPC);
	EXPECT(repair.cut_bytes == 77 && !repair.terminated);
	return 0;
}

static int file_cannot_be_read(void)
{
	struct tail_repair repair = {.cut_bytes = 77};
	int fd = open("torn", O_RDWR | O_APPEND | O_CLOEXEC);

	if (!fail_call(SYS_pread64, EIO))
		return NO_FILTERS;
	EXPECT(repair_tail(fd, LINES_JSON, &repair) == -EIO);
	EXPECT(repair_tail(fd, MEMBERS_JSON, &repair) == -EIO);
	EXPECT(repair.cut_bytes == 77);
	return 0;
}

/* pread() answers 0: the file has become shorter. */
static int file_shrinks_meanwhile(void)
{
	struct tail_repair repair = {.cut_bytes = 77};
	int fd = open("torn", O_RDWR | O_APPEND | O_CLOEXEC);

	alarm(30);
	if (!fail_call(SYS_pread64, 0))
		return NO_FILTERS;
	EXPECT(repair_tail(fd, LINES_JSON, &repair) == -EIO);
	EXPECT(repair_tail(fd, MEMBERS_JSON, &repair) == -EIO);
	EXPECT(repair.cut_bytes == 77);
	return 0;
}

static int torn_member_cannot_be_cut(void)
{
	struct tail_repair repair = {.cut_bytes = 77};
	int fd = open("torn.gz", O_RDWR | O_APPEND | O_CLOEXEC);

	if (!fail_call(SYS_ftruncate, EPERM))
		return NO_FILTERS;
	EXPECT(repair_tail(fd, MEMBERS_JSON, &repair) == -EPERM);
	EXPECT(repair.cut_bytes == 77);
	return 0;
}

/* Nothing can be appended behind half a member. */
static void a_torn_member_that_cannot_be_cut_is_refused(void **state)
{
	CLEANUP_BUFFER struct buffer member = BUFFER(4096);

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	gzip_member_add(&member, "{}\n", 3, false);
	put_file("torn.gz", member.data, member.length - 1);
	assert_child_is_well(torn_member_cannot_be_cut);
}

static void a_torn_line_that_cannot_be_cut_is_ended(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_text("torn", "{}\n{\"a");
	assert_child_is_well(torn_line_cannot_be_ended);
	assert_file_text("torn", "{}\n{\"a");
	assert_child_is_well(file_cannot_be_read);
	assert_child_is_well(file_shrinks_meanwhile);
	assert_child_is_well(torn_line_cannot_be_cut);
	assert_file_text("torn", "{}\n{\"a\n");
}

/* ---- files that are taken away ----------------------------------------------------------------------------- */

static void a_file_has_lost_its_name_if_another_has_it(void **state)
{
	static const char *const STEPS[] = {"rename", "new file", "remove", "folder is a file"};

	(void)state;
	for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
		assert_int_equal(mkdir("f", 0700), 0);
		target = open_file("f/out");
		assert_false(target_lost_its_name(target, true));
		if (i == 2)
			assert_int_equal(unlink("f/out"), 0);
		else if (i == 3)
			assert_int_equal(rename("f", "g"), 0);
		else
			assert_int_equal(rename("f/out", "f/old"), 0);
		if (i == 1)
			put_text("f/out", "");
		if (i == 3)
			put_text("f", "");
		if (!target_lost_its_name(target, true))
			fail_msg("%s is not seen", STEPS[i]);
		target_close(target, 0);
		if (i == 3)
			assert_int_equal(unlink("f") | rename("g", "f"), 0);
		(void)!unlink("f/out");
		(void)!unlink("f/old");
		assert_int_equal(rmdir("f"), 0);
	}
}

static void a_file_that_is_open_for_reading_is_refused(void **state)
{
	int fd;

	(void)state;
	put_text("in", "");
	fd = open("in", O_RDONLY | O_CLOEXEC);
	target = NULL;
	assert_int_equal(target_from_fd(fd, "-", &NEW_FILE, &target, message, sizeof message), -EBADF);
	assert_null(target);
	assert_string_equal(message, "cannot write to standard output: it is not open for writing");
	close(fd);
}

static void a_stream_has_no_name_to_lose(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(target_from_fd(ends[1], "pipe", &NEW_FILE, &target, message, sizeof message), 0);
	assert_false(target_lost_its_name(target, true));
	assert_false(target_is_file(target));
	assert_int_equal(target_size(target), 0);
	assert_int_equal(target_process(target), 0);
	target_close(target, 0);
	close(ends[0]);
	close(ends[1]);
	target = open_file("out");
	assert_int_equal(target_write(target, "four\n", 5), 0);
	assert_true(target_is_file(target));
	assert_int_equal(target_size(target), 5);
	target_close(target, 0);
}

/* The name is that of a device by now: samples wait, and that is told once. */
static void a_file_is_not_continued_in_a_fifo(void **state)
{
	(void)state;
	target = open_file("out");
	assert_int_equal(unlink("out"), 0);
	assert_int_equal(mkfifo("out", 0600), 0);
	assert_true(target_lost_its_name(target, true));
	assert_false(target_renew(target, &NEW_FILE, message, sizeof message));
	assert_string_equal(message,
			    "out was removed or renamed; no new one can be opened: its name is that of a "
			    "device or a FIFO now");
	assert_false(target_renew(target, &NEW_FILE, message, sizeof message));
	assert_string_equal(message, "");
	assert_int_equal(unlink("out"), 0);
	assert_true(target_renew(target, &NEW_FILE, message, sizeof message));
	assert_string_equal(message,
			    "out was removed or renamed: the samples from now on are in a new file of that "
			    "name");
	assert_int_equal(target_write(target, "one\n", 4), 0);
	target_close(target, 0);
	assert_file_text("out", "one\n");
}

/* ---- opening ----------------------------------------------------------------------------------------------- */

static int no_number_above_the_standard_streams(void)
{
	static const struct output_options FRESH = {false, LINES_JSON, NULL, false};
	struct opened_output output = {.fd = -77};

	close(0);
	EXPECT(open_output("moved", &FRESH, &output, message, sizeof message) == 0);
	EXPECT(output.fd > 2);
	if (!fail_call(SYS_fcntl, EMFILE))
		return NO_FILTERS;
	output.fd = -77;
	EXPECT(open_output("new", &FRESH, &output, message, sizeof message) == -EMFILE);
	EXPECT(output.fd == -77);
	return 0;
}

static void a_file_never_becomes_a_standard_stream(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_child_is_well(no_number_above_the_standard_streams);
}

static int append_to(const char *text, size_t length, enum line_format format)
{
	const struct output_options options = {true, format, "timestamp,a\n", false};
	struct opened_output output = {.fd = -1};
	int result;

	put_file("old", text, length);
	result = open_output("old", &options, &output, message, sizeof message);
	if (output.fd >= 0)
		close(output.fd);
	return result;
}

#define APPEND_TO(text, format) append_to(text, sizeof(text) - 1, format)

/* The first bytes of a file say its format. */
static void lines_are_appended_to_their_own_kind(void **state)
{
	(void)state;
	assert_int_equal(APPEND_TO("{\"a\":1}\n", LINES_CSV), -EINVAL);
	assert_non_null(strstr(message, "it holds JSON lines"));
	assert_int_equal(APPEND_TO("x{\"a\":1}\n", LINES_CSV), 0);
	assert_int_equal(APPEND_TO("timestamp,a\n1,2\n", LINES_JSON), -EINVAL);
	assert_non_null(strstr(message, "it holds CSV, "));
	assert_int_equal(APPEND_TO("\"timestamp\",a\n1,2\n", LINES_JSON), -EINVAL);
	assert_int_equal(APPEND_TO("xtimestamp,a\n1,2\n", LINES_JSON), 0);
	assert_int_equal(APPEND_TO("timestamp,a\n1,2\n", LINES_CSV), 0);
	assert_int_equal(APPEND_TO("timestamp,b\n1,2\n", LINES_CSV), -EINVAL);
	assert_non_null(strstr(message, "it holds CSV with other columns"));
	assert_int_equal(APPEND_TO("1,2\n3,4\n", LINES_CSV), 0);
	assert_int_equal(APPEND_TO("1,2,3\n", LINES_CSV), -EINVAL);
	assert_int_equal(APPEND_TO("5 words in a log\n", LINES_CSV), 0);
	assert_int_equal(APPEND_TO("\x1f\x8b\x08\n", LINES_JSON), -EINVAL);
	assert_non_null(strstr(message, "it is compressed, "));
	assert_int_equal(APPEND_TO("x\x1f\x8b\n", LINES_JSON), 0);
	assert_int_equal(APPEND_TO("text\n", MEMBERS_JSON), -EINVAL);
	assert_non_null(strstr(message, "it holds text, "));
	assert_int_equal(APPEND_TO("", MEMBERS_JSON), 0);
}

/* A link that another user has made could lead anywhere later. */
static void a_spool_is_not_behind_the_link_of_another_user(void **state)
{
	char *path = NULL, own[80], wanted[120];

	(void)state;
	if (geteuid() != 0)
		SKIP("only root can give a link away");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	setenv("TMPDIR", scratch_folder, 1);
	snprintf(own, sizeof own, "%s/resource-tracker-0", scratch_folder);
	assert_int_equal(mkdir(own, 0700) | mkdir("elsewhere", 0700) | chdir(own), 0);
	assert_int_equal(symlink("../elsewhere", "spool"), 0);
	snprintf(wanted, sizeof wanted, "%s/spool", own);
	assert_int_equal(spool_folder_make(NULL, &path), 0);
	assert_string_equal(path, wanted);
	free(path);
	assert_int_equal(lchown("spool", 4321, 4321), 0);
	path = NULL;
	assert_int_equal(spool_folder_make(NULL, &path), -EPERM);
	assert_null(path);
	unsetenv("TMPDIR");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(errors_end_a_file_or_pass),
		unit_test_in_scratch(a_torn_member_that_cannot_be_cut_is_refused),
		unit_test_in_scratch(a_torn_line_that_cannot_be_cut_is_ended),
		unit_test_in_scratch(a_file_has_lost_its_name_if_another_has_it),
		unit_test_in_scratch(a_file_that_is_open_for_reading_is_refused),
		unit_test_in_scratch(a_stream_has_no_name_to_lose),
		unit_test_in_scratch(a_file_is_not_continued_in_a_fifo),
		unit_test_in_scratch(a_file_never_becomes_a_standard_stream),
		unit_test_in_scratch(lines_are_appended_to_their_own_kind),
		unit_test_in_scratch(a_spool_is_not_behind_the_link_of_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
