/*
 * Tests of src/sink/open_output.c, tail_repair.c, rename_aside.c and spool_folder.c: calls that fail once, and other processes that change
 * the folder between two calls. The functions at the top stand before the C library's.
 */
#include "in_child.h"
#include "moment.h"
#include "scratch.h"

#include <sys/file.h>
#include <time.h>

#include "base/clock.h"
#include "format/gzip_member.h"
#include "sink/open_output.h"
#include "sink/rename_aside.h"
#include "sink/spool_folder.h"
#include "sink/tail_repair.h"

/* ---- the calls ---------------------------------------------------------------------------------------------- */

static struct moment at_access, at_fstat, at_ftruncate, at_linkat, at_lstat, at_mkdir, at_openat, at_pread,
	at_renameat, at_sleep, at_stat, at_unlinkat, at_write;
static size_t read_most; /* of one call */
static int64_t slept_ns;
static char last_folder[200];  /* that was made */
static uid_t link_owner, user; /* 0: the kernel's */

uid_t geteuid(void)
{
	return user ? user : (uid_t)syscall(SYS_geteuid);
}

int access(const char *path, int mode)
{
	return fails_now(&at_access) ? -1 : faccessat(AT_FDCWD, path, mode, 0);
}

int fstat(int fd, struct stat *ret_status)
{
	return fails_now(&at_fstat) ? -1 : fstatat(fd, "", ret_status, AT_EMPTY_PATH);
}

int lstat(const char *path, struct stat *ret_status)
{
	int r = fails_now(&at_lstat) ? -1 : fstatat(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);

	if (r == 0 && user && S_ISLNK(ret_status->st_mode))
		ret_status->st_uid = link_owner;
	return r;
}

int stat(const char *path, struct stat *ret_status)
{
	return fails_now(&at_stat) ? -1 : fstatat(AT_FDCWD, path, ret_status, 0);
}

int ftruncate(int fd, off_t length)
{
	return fails_now(&at_ftruncate) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	return fails_now(&at_linkat) ? -1 : (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
	snprintf(last_folder, sizeof last_folder, "%s", path);
	return fails_now(&at_mkdir) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list arguments;
	unsigned mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
	va_end(arguments);
	return fails_now(&at_openat) ? -1 : (int)syscall(SYS_openat, dir_fd, path, flags, mode);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
	return fails_now(&at_pread)
		       ? -1
		       : syscall(SYS_pread64, fd, bytes, length < read_most ? length : read_most, offset);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return fails_now(&at_renameat) ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	slept_ns += time->tv_sec * NSEC_PER_SEC + time->tv_nsec;
	return fails_now(&at_sleep) ? -1 : 0;
}

int unlinkat(int dir_fd, const char *path, int flags)
{
	return fails_now(&at_unlinkat) ? -1 : (int)syscall(SYS_unlinkat, dir_fd, path, flags);
}

/* An error of 1000 makes it answer that it wrote nothing. */
enum { WRITES_NOTHING = 1000 };

ssize_t write(int fd, const void *bytes, size_t length)
{
	if (fails_now(&at_write))
		return errno == WRITES_NOTHING ? 0 : -1;
	return syscall(SYS_write, fd, bytes, length);
}

static void forget_moments(void)
{
	at_access = at_fstat = at_ftruncate = at_linkat = at_lstat = at_mkdir = at_openat = at_pread =
		at_renameat = at_sleep = at_stat = at_unlinkat = at_write = (struct moment){0};
	read_most = SIZE_MAX;
	slept_ns = 0;
	user = link_owner = 0;
}

static int enter(void **state)
{
	forget_moments();
	return scratch_enter(state);
}

static int leave(void **state)
{
	forget_moments();
	return scratch_leave(state);
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

#define EARLIER "{\"timestamp_secs\":1700000000,\"resource-tracker-version\":\"0.1.0\"}\n"

static const struct output_options FRESH = {false, LINES_JSON, NULL, false},
				   APPEND = {true, LINES_JSON, NULL, false},
				   MEMBERS = {true, MEMBERS_JSON, NULL, false};
static char message[512];

static int open_run(const struct output_options *options, struct opened_output *ret_output)
{
	*ret_output = (struct opened_output){.fd = -77};
	message[0] = '\0';
	return open_output("run", options, ret_output, message, sizeof message);
}

static void expect_refusal(const struct output_options *options, int error, const char *words)
{
	struct opened_output output;

	assert_int_equal(open_run(options, &output), error);
	assert_int_equal(output.fd, -77);
	assert_non_null(strstr(message, words));
}

/* Opens, and writes a line to what was opened. */
static struct opened_output expect_open(const struct output_options *options)
{
	struct opened_output output;

	if (open_run(options, &output) != 0)
		fail_msg("%s", message);
	assert_int_equal(dprintf(output.fd, "new\n"), 4);
	close(output.fd);
	return output;
}

/* Each of `looks` calls of fstat() fails once, and then none. */
static void expect_each_look(const struct output_options *options, const char *bytes, size_t length,
			     int looks)
{
	for (int passes = 0; passes <= looks; passes++) {
		put_file("run", bytes, length);
		at_fstat = (struct moment){.passes = passes, .error = EIO};
		if (passes < looks)
			expect_refusal(options, -EIO, strerror(EIO));
		else
			expect_open(options);
		assert_int_equal(at_fstat.calls, passes < looks ? passes + 1 : looks);
		at_fstat = (struct moment){0};
	}
}

/* The folder, the file that is locked, its end, and what is left of it. */
static void a_file_that_cannot_be_looked_at_is_refused(void **state)
{
	CLEANUP_BUFFER struct buffer member = BUFFER(4096);

	(void)state;
	gzip_member_add(&member, "{}\n", 3, false);
	expect_each_look(&APPEND, "{\"a\":1}\n", 8, 4);
	expect_each_look(&MEMBERS, member.data, member.length, 4);
}

static void remove_run(void)
{
	unlink("run");
}

static void make_run(void)
{
	put_text("run", "");
}

static void make_run_a_link(void)
{
	rename("run", "target");
	(void)!symlink("target", "run");
}

static void replace_run(void)
{
	rename("other", "run");
}

static void make_or_remove_run(void)
{
	if (unlink("run") < 0)
		make_run();
}

/* Between the look at the name and the opening. */
static void a_name_that_changes_meanwhile_is_looked_at_again(void **state)
{
	(void)state;
	put_text("run", "");
	at_openat = (struct moment){.act = remove_run};
	expect_open(&FRESH);
	assert_file_text("run", "new\n");
	assert_int_equal(unlink("run"), 0);
	at_openat = (struct moment){.act = make_run};
	expect_open(&FRESH);
	assert_file_text("run", "new\n");
	put_text("run", "");
	at_openat = (struct moment){.act = make_run_a_link};
	expect_open(&FRESH);
	assert_file_text("target", "new\n");
}

/* Between the opening and the lock, so that the file is another one, or gone. */
static void a_file_that_is_taken_away_before_its_lock_is_not_used(void **state)
{
	(void)state;
	put_text("run", "");
	put_text("other", "");
	assert_int_equal(link("run", "first"), 0);
	at_fstat = (struct moment){.passes = 1, .act = replace_run};
	expect_open(&FRESH);
	assert_file_text("run", "new\n");
	assert_file_text("first", "");
	assert_int_equal(unlink("first"), 0);
	put_text("run", "");
	assert_int_equal(link("run", "first"), 0);
	at_fstat = (struct moment){.passes = 1, .act = remove_run};
	expect_open(&FRESH);
	assert_file_text("run", "new\n");
	assert_file_text("first", "");
}

/* Its content is read just before it is renamed. */
static void a_recording_that_goes_before_it_is_renamed_is_not_missed(void **state)
{
	(void)state;
	put_text("run", EARLIER);
	at_pread = (struct moment){.act = remove_run};
	assert_int_equal(expect_open(&FRESH).renamed_number, 0);
	assert_file_text("run", "new\n");
}

/* A file in the place of a FIFO would be overwritten. */
static void a_file_in_the_place_of_a_fifo_is_not_written_to(void **state)
{
	struct opened_output output;
	int reader;

	(void)state;
	assert_int_equal(mkfifo("run", 0600), 0);
	reader = open("run", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	put_text("other", "precious");
	at_openat = (struct moment){.act = replace_run};
	expect_refusal(&FRESH, -EEXIST, "not a recording");
	assert_file_text("run", "precious");
	assert_int_equal(unlink("run") | mkfifo("run", 0600), 0);
	close(reader);
	reader = open("run", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* An opened FIFO that cannot be looked at is opened again. */
	at_openat = (struct moment){0};
	at_fstat = (struct moment){.passes = 1, .error = EIO};
	assert_int_equal(open_run(&FRESH, &output), 0);
	assert_int_equal(at_openat.calls, 2);
	close(output.fd);
	close(reader);
	/* Without a reader, we are the reader for a moment. */
	at_fstat = (struct moment){0};
	at_openat = (struct moment){.passes = 1, .error = EMFILE};
	expect_refusal(&FRESH, -EMFILE, strerror(EMFILE));
}

static void a_name_that_never_rests_is_given_up(void **state)
{
	(void)state;
	at_openat = (struct moment){.passes = EACH_TIME, .act = make_or_remove_run};
	expect_refusal(&FRESH, -EAGAIN, "other programs keep replacing it");
	assert_int_equal(at_openat.calls, 16);
}

/* A file that is only renamed need not be writable. */
static void a_recording_that_is_not_writable_is_renamed(void **state)
{
	static const int REFUSALS[] = {EACCES, EPERM};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put_text("run", EARLIER);
		at_openat = (struct moment){.error = REFUSALS[i]};
		assert_int_equal(expect_open(&FRESH).renamed_number, i + 1);
		put_text("run", EARLIER);
		at_openat = (struct moment){.error = REFUSALS[i]};
		expect_refusal(&APPEND, -REFUSALS[i], strerror(REFUSALS[i]));
		assert_int_equal(at_openat.calls, 1);
	}
	at_openat = (struct moment){.error = EIO};
	expect_refusal(&FRESH, -EIO, strerror(EIO));
	assert_int_equal(at_openat.calls, 1);
}

/* /proc answers ENOENT for a new file although the folder is there. */
static void a_new_file_that_is_refused_has_a_reason(void **state)
{
	(void)state;
	at_openat = (struct moment){.error = ENOENT};
	expect_refusal(&FRESH, -ENOENT, "cannot write to 'run': No such file or directory");
	at_openat = (struct moment){.error = EROFS};
	expect_refusal(&FRESH, -EROFS, "its folder takes no new file");
	at_openat = (struct moment){0};
	assert_int_equal(symlink("missing/run", "run"), 0);
	expect_refusal(&FRESH, -ENOENT, "a symbolic link into a folder that does not exist");
}

/* A killed recorder's child may hold the lock for a quarter of a second. */
static void a_lock_is_tried_for_a_quarter_of_a_second(void **state)
{
	int holder;

	(void)state;
	put_text("run", "");
	holder = open("run", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(holder, LOCK_EX), 0);
	expect_refusal(&FRESH, -EBUSY, "another recording is being written to it");
	assert_int_equal(at_sleep.calls, 25);
	assert_int_equal(slept_ns, 250 * NSEC_PER_MSEC);
	close(holder);
}

/* ---- the end of a file -------------------------------------------------------------------------------------- */

static struct tail_repair repair(const char *bytes, size_t length, enum line_format text, int error)
{
	struct tail_repair repair = {.cut_bytes = 77};
	struct moment writing = at_write;
	int fd;

	at_write = (struct moment){0};
	put_file("end", bytes, length);
	fd = open("end", O_RDWR | O_APPEND | O_CLOEXEC);
	at_write = writing;
	at_ftruncate.calls = 0;
	assert_int_equal(repair_tail(fd, text, &repair), error);
	close(fd);
	return repair;
}

static void an_interrupted_or_short_read_goes_on(void **state)
{
	static const char TORN[] = "{\"a\":1}\n{\"b\":[1,2";

	(void)state;
	for (int passes = 0; passes < 3; passes++) {
		at_pread = (struct moment){.passes = passes, .error = EINTR};
		assert_int_equal(repair(TORN, sizeof TORN - 1, LINES_JSON, 0).cut_bytes, 9);
		assert_file_text("end", "{\"a\":1}\n");
		assert_true(at_pread.calls > passes);
	}
	at_pread = (struct moment){0};
	read_most = 3;
	assert_int_equal(repair(TORN, sizeof TORN - 1, LINES_JSON, 0).cut_bytes, 9);
	assert_file_text("end", "{\"a\":1}\n");
	read_most = SIZE_MAX;
	for (int passes = 0; passes < 4; passes++) {
		at_pread = (struct moment){.passes = passes, .error = ENXIO};
		repair(TORN, sizeof TORN - 1, LINES_JSON, -ENXIO);
	}
}

static void a_newline_is_written_whole_or_refused(void **state)
{
	(void)state;
	at_write = (struct moment){.error = EINTR};
	assert_true(repair("note", 4, LINES_JSON, 0).terminated);
	assert_file_text("end", "note\n");
	assert_int_equal(at_write.calls, 2);
	at_write = (struct moment){.error = EIO};
	assert_int_equal(repair("note", 4, LINES_JSON, -EIO).cut_bytes, 77);
	assert_int_equal(at_write.calls, 1);
	at_write = (struct moment){.error = WRITES_NOTHING};
	assert_int_equal(repair("note", 4, LINES_JSON, -ENOSPC).cut_bytes, 77);
	assert_int_equal(at_write.calls, 1);
}

static void a_whole_file_is_not_truncated(void **state)
{
	CLEANUP_BUFFER struct buffer member = BUFFER(4096);

	(void)state;
	gzip_member_add(&member, "{}\n", 3, false);
	assert_int_equal(repair("{}\n", 3, LINES_JSON, 0).cut_bytes, 0);
	assert_int_equal(at_ftruncate.calls + at_write.calls, 0);
	assert_int_equal(repair(member.data, member.length, MEMBERS_JSON, 0).cut_bytes, 0);
	assert_int_equal(at_ftruncate.calls, 0);
	assert_int_equal(repair(member.data, member.length - 1, MEMBERS_JSON, 0).cut_bytes,
			 member.length - 1);
	assert_int_equal(at_ftruncate.calls, 1);
}

/* ---- another name ------------------------------------------------------------------------------------------- */

/* Without renameat2(), the file has both names for a moment. */
static int the_second_name_goes_again(void)
{
	if (!fail_call(SYS_renameat2, ENOSYS))
		return 99;
	at_unlinkat = (struct moment){.error = EIO};
	at_linkat = (struct moment){0};
	/* The next way finds the first number free again, and cannot rename either. */
	if (rename_aside(AT_FDCWD, "run") != -ENOSYS)
		return 1;
	return faccessat(AT_FDCWD, "run.1", F_OK, 0) == 0 || at_unlinkat.calls != 3 || at_linkat.calls != 1
		       ? 2
		       : 0;
}

static void a_name_that_was_taken_in_vain_goes_again(void **state)
{
	int code;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_text("run", "mine");
	code = in_child(the_second_name_goes_again);
	if (code == 99)
		SKIP("no system call filters here");
	assert_int_equal(code, 0);
	assert_file_text("run", "mine");
	assert_int_equal(faccessat(AT_FDCWD, "run.1", F_OK, 0), -1);
}

/* ---- the spool ---------------------------------------------------------------------------------------------- */

static void expect_no_spool(const char *given, int error)
{
	char *path = NULL;

	assert_int_equal(spool_folder_make(given, &path), error);
	assert_null(path);
}

static void a_spool_that_cannot_be_made_or_looked_at_is_refused(void **state)
{
	static char own[100];

	(void)state;
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	setenv("TMPDIR", scratch_folder, 1);
	snprintf(own, sizeof own, "%s/resource-tracker-%u", scratch_folder, (unsigned)geteuid());
	at_mkdir = (struct moment){.error = EDQUOT};
	expect_no_spool(NULL, -EDQUOT);
	assert_string_equal(last_folder, own);
	/* Those above are there already. */
	at_mkdir = (struct moment){.passes = 3, .error = EDQUOT};
	expect_no_spool(NULL, -EDQUOT);
	at_mkdir = (struct moment){0};
	for (int passes = 0; passes < 2; passes++) {
		at_lstat = (struct moment){.passes = passes, .error = EIO};
		expect_no_spool(NULL, -EIO);
		at_lstat = (struct moment){0};
	}
	at_stat = (struct moment){.error = EIO};
	expect_no_spool(NULL, -EIO);
	at_stat = (struct moment){0};
	at_access = (struct moment){.error = EACCES};
	expect_no_spool(NULL, -EACCES);
	assert_int_equal(at_access.calls, 1);
}

/* A link of the user's own, or of root, leads to a folder of that user. */
static void only_links_that_can_be_trusted_are_followed(void **state)
{
	static const struct {
		uid_t owner;
		bool is_followed;
	} CASES[] = {{7, true}, {0, true}, {1, false}, {8, false}};

	(void)state;
	if (geteuid() != 0)
		SKIP("the folders have to belong to root");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", scratch_folder, 1);
	setenv("TMPDIR", "/none", 1);
	assert_int_equal(mkdir(".local", 0700) | mkdir(".local/state", 0700) | mkdir("elsewhere", 0700), 0);
	assert_int_equal(symlink("../../elsewhere", ".local/state/resource-tracker"), 0);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		char *path = NULL;

		user = 7;
		link_owner = CASES[i].owner;
		assert_int_equal(spool_folder_make(NULL, &path), CASES[i].is_followed ? 0 : -ENOENT);
		user = 0;
		assert_int_equal(path != NULL, CASES[i].is_followed);
		free(path);
	}
}

/* It is never made below a folder that depends on where the program runs. */
static void a_relative_folder_for_temporary_files_is_not_used(void **state)
{
	static const char *const FOLDERS[] = {"relative", "", NULL};
	char wanted[64];

	(void)state;
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	snprintf(wanted, sizeof wanted, "/tmp/resource-tracker-%u", (unsigned)geteuid());
	for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
		if (FOLDERS[i])
			setenv("TMPDIR", FOLDERS[i], 1);
		else
			unsetenv("TMPDIR");
		at_mkdir = (struct moment){.error = EROFS};
		expect_no_spool(NULL, -EROFS);
		assert_string_equal(last_folder, wanted);
	}
}

#define MOMENT(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		MOMENT(a_file_that_cannot_be_looked_at_is_refused),
		MOMENT(a_name_that_changes_meanwhile_is_looked_at_again),
		MOMENT(a_file_that_is_taken_away_before_its_lock_is_not_used),
		MOMENT(a_recording_that_goes_before_it_is_renamed_is_not_missed),
		MOMENT(a_file_in_the_place_of_a_fifo_is_not_written_to),
		MOMENT(a_name_that_never_rests_is_given_up),
		MOMENT(a_recording_that_is_not_writable_is_renamed),
		MOMENT(a_new_file_that_is_refused_has_a_reason),
		MOMENT(a_lock_is_tried_for_a_quarter_of_a_second),
		MOMENT(an_interrupted_or_short_read_goes_on),
		MOMENT(a_newline_is_written_whole_or_refused),
		MOMENT(a_whole_file_is_not_truncated),
		MOMENT(a_name_that_was_taken_in_vain_goes_again),
		MOMENT(a_spool_that_cannot_be_made_or_looked_at_is_refused),
		MOMENT(only_links_that_can_be_trusted_are_followed),
		MOMENT(a_relative_folder_for_temporary_files_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
