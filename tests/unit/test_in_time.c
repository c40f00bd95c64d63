/* Tests of src/launch/in_time.c: which work is done aside, what comes back, and what a file system without an answer costs. */
#include "served_folder.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "launch/in_time.h"
#include "launch/input_size.h"

static int calls_here;

/* In a child of the test, where cmocka cannot fail. */
#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

struct work {
	pid_t by;
	int number;
};

static void double_the_number(void *data)
{
	struct work *work = data;

	calls_here++;
	work->by = getpid();
	work->number *= 2;
}

static void end_at_once(void *data)
{
	((struct work *)data)->number = 5;
	_exit(0);
}

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}

static void work_is_done_here_where_nothing_hangs(void **state)
{
	struct work work = {.number = 4};
	struct stat status = {.st_size = -7};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	calls_here = 0;
	assert_int_equal(act_in_time(".", double_the_number, &work, sizeof work), 0);
	allow_work_aside(JOB_LOOK_MS);
	assert_int_equal(act_in_time(".", double_the_number, &work, sizeof work), 0);
	assert_int_equal(calls_here, 2);
	assert_int_equal(work.by, getpid());
	assert_int_equal(work.number, 16);
	put_text("five", "12345");
	assert_int_equal(stat_in_time("missing", &status), -ENOENT);
	assert_int_equal(status.st_size, -7);
	assert_int_equal(stat_in_time("five", &status), 0);
	assert_int_equal(status.st_size, 5);
	assert_true(answers_in_time("five"));
	assert_true(answers_in_time("missing"));
	unlink_file((char[]){"five"});
	assert_int_equal(access("five", F_OK), -1);
}

static void add_inputs_in_a_library(void)
{
	const char *unknown;

	EXPECT(!acts_aside("served/x"));
	paths_look_again();
	EXPECT(size_of_inputs((const char *const[]){"plain"}, 1, &unknown) >= 0);
	EXPECT(umount2("served", MNT_DETACH) == 0);
	/* It is read here only. */
	EXPECT(!path_may_hang("served/x"));
}

static void a_library_reads_no_table_of_mounts(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(add_inputs_in_a_library);
}

static void do_work_aside(void)
{
	struct work work = {.number = 4};

	/* A library has no children of its own. */
	EXPECT(act_in_time("served/x", double_the_number, &work, sizeof work) == 0);
	EXPECT(work.by == getpid() && work.number == 8 && calls_here == 1);
	allow_work_aside(JOB_LOOK_MS);
	EXPECT(act_in_time("served/x", double_the_number, &work, sizeof work) == 0);
	EXPECT(work.by != getpid() && work.by > 1 && work.number == 16 && calls_here == 1);
	/* Only the given bytes come back. */
	EXPECT(act_in_time("served/x", double_the_number, &work, sizeof work.by) == 0);
	EXPECT(work.number == 16);
	EXPECT(act_in_time("plain", double_the_number, &work, sizeof work) == 0);
	EXPECT(work.by == getpid() && calls_here == 2);
	/* One that ends before its work is done brings nothing back. */
	EXPECT(act_in_time("served/x", end_at_once, &work, sizeof work) == -EIO);
	EXPECT(work.number == 32);
	/* Each was waited for. */
	EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void a_process_aside_works_where_a_path_may_hang(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	calls_here = 0;
	with_served_folder(do_work_aside);
}

static void sleep_for(void *data)
{
	nanosleep(&(struct timespec){.tv_nsec = *(int *)data * NSEC_PER_MSEC}, NULL);
}

static void read_slowly(void)
{
	int pause_ms = 100;

	allow_work_aside(500);
	for (int i = 0; i < 11; i++)
		EXPECT(look_aside("served/x", sleep_for, &pause_ms, sizeof pause_ms) == 0);
	/* A recorder has a second for all its calls. */
	for (int i = 0; i < 10; i++)
		(void)act_in_time("served/x", sleep_for, &pause_ms, sizeof pause_ms);
	EXPECT(act_in_time("served/x", sleep_for, &pause_ms, sizeof pause_ms) == -ETIMEDOUT);
}

static void late_answers_leave_a_reader_its_time(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(read_slowly);
}

static void hang_and_go_on(void)
{
	struct stat status = {.st_size = -7};
	struct work work = {.number = 4};
	int64_t begun_ns;

	allow_work_aside(JOB_LOOK_MS);
	/* A call gets a quarter of a second. */
	begun_ns = now_ns();
	EXPECT(stat_in_time("served/x", &status) == -ETIMEDOUT);
	EXPECT(now_ns() - begun_ns >= 250 * NSEC_PER_MSEC);
	EXPECT(status.st_size == -7);
	/* It is known for a second now, and nothing else is tried there. */
	EXPECT(act_in_time("served/x", double_the_number, &work, sizeof work) == -ETIMEDOUT ||
	       now_ns() - begun_ns > NSEC_PER_SEC);
	EXPECT(calls_here == 0);
	EXPECT(stat_in_time("plain/in", &status) == 0 && S_ISDIR(status.st_mode));
	/* All calls together get half a second, and each at least 20 ms. */
	for (int i = 0; i < 3; i++) {
		nanosleep(&(struct timespec){1, 10000000}, NULL);
		begun_ns = now_ns();
		EXPECT(!answers_in_time("served/x"));
		EXPECT(now_ns() - begun_ns >= 20 * NSEC_PER_MSEC);
	}
	/* Called again, it gives as much time as before. */
	nanosleep(&(struct timespec){1, 10000000}, NULL);
	allow_work_aside(JOB_LOOK_MS);
	begun_ns = now_ns();
	EXPECT(!answers_in_time("served/x"));
	EXPECT(now_ns() - begun_ns >= 250 * NSEC_PER_MSEC);
}

static void a_call_without_an_answer_ends_in_time(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	calls_here = 0;
	with_served_folder(hang_and_go_on);
}

/* The kept descriptor of write_line_in_time() is what the process aside writes to: a file below a later mount. */
static void write_aside(void)
{
	static char large[5000];
	char text[8] = "";
	struct stat status;
	int fd = open("plain/out", O_RDWR | O_CREAT | O_CLOEXEC, 0600), pipe_ends[2];
	int closed = open("plain/out", O_RDONLY | O_CLOEXEC);

	EXPECT(fd >= 0 && closed >= 0 && mount_served("plain") == 0);
	paths_look_again();
	EXPECT(write_line_in_time(fd, "one\n", 4, 100) == 0);
	allow_work_aside(JOB_LOOK_MS);
	EXPECT(write_line_in_time(fd, "two\n", 4, 100) == 0);
	EXPECT(pread(fd, text, sizeof text, 0) == 8 && memcmp(text, "one\ntwo\n", 8) == 0);
	EXPECT(write_line_in_time(fd, large, sizeof large, 100) == 0);
	EXPECT(fstat(fd, &status) == 0 && status.st_size == 8 + sizeof large);
	EXPECT(write_line_in_time(fd, large, 4096, 100) == 0);
	EXPECT(fstat(fd, &status) == 0 && status.st_size == 8 + sizeof large + 4096);
	close(fd);
	/* An error of the process aside is told. */
	EXPECT(write_line_in_time(closed, "x", 1, 100) == -EBADF);
	close(closed);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	EXPECT(write_line_in_time(fd, "x", 1, 100) < 0);
	close(fd);
	EXPECT(pipe2(pipe_ends, O_CLOEXEC) == 0);
	while (write_line_in_time(pipe_ends[1], large, sizeof large, 0) == 0)
		continue;
	EXPECT(write_line_in_time(pipe_ends[1], large, sizeof large, 0) == -ETIMEDOUT);
}

static void a_line_is_written_aside(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(write_aside);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_library_reads_no_table_of_mounts),
		unit_test_in_scratch(a_process_aside_works_where_a_path_may_hang),
		unit_test_in_scratch(late_answers_leave_a_reader_its_time),
		unit_test_in_scratch(a_call_without_an_answer_ends_in_time),
		unit_test_in_scratch(a_line_is_written_aside),
		/* The last one: from then on this process allows work aside. */
		unit_test_in_scratch(work_is_done_here_where_nothing_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
