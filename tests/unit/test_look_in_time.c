/* Tests of src/launch/in_time.c where each path may hang, or none, by a clock of the test's own. */
#include "scratch.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

#include "kernel/may_hang.h"
#include "launch/in_time.h"

static bool may_hang;
static const char *hanging; /* NULL: none */
static bool hangs;          /* the next call has no answer */
static const char *hung;

bool path_may_hang(const char *path)
{
	(void)path;
	return may_hang;
}

bool path_hangs_now(const char *path)
{
	return hanging && strcmp(path, hanging) == 0;
}

void path_has_hung(const char *path)
{
	if (!hangs)
		fail_msg("%s", path);
	hung = path;
}

void paths_look_again(void)
{
}

/* ---- a clock that the waits drive ------------------------------------------------------------------------- */

static int64_t passed_ns;
static int takes_ms, waited_ms, interruptions;
static bool is_driven;

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, ret_now);

	if (is_driven)
		*ret_now = (struct timespec){1000 + passed_ns / NSEC_PER_SEC, passed_ns % NSEC_PER_SEC};
	return result;
}

/* Returns at once if the call has no answer, else when its process has ended. */
int poll(struct pollfd *list, nfds_t count, int timeout_ms)
{
	waited_ms = timeout_ms;
	passed_ns += (hangs ? timeout_ms : takes_ms) * NSEC_PER_MSEC;
	if (interruptions > 0) {
		interruptions--;
		errno = EINTR;
		return -1;
	}
	return hangs ? 0 : (int)syscall(SYS_ppoll, list, count, NULL, NULL, 0);
}

/* How a look at the file touched it: a mask of inotify, or 0. */
static uint32_t touch_of_look(const char *path)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event seen = {0};

	assert_true(inotify_add_watch(watch, path, IN_OPEN | IN_ACCESS) >= 0);
	assert_int_equal(look_in_time(path), 0);
	for (uint32_t mask = 0;; mask |= seen.mask)
		if (read(watch, &seen, sizeof seen) < 0) {
			assert_int_equal(errno, EAGAIN);
			close(watch);
			return mask;
		}
}

/* An open would let the writer of a FIFO go on, and its reader would be gone before the command reads. */
static void a_look_opens_files_and_folders_alone(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	allow_work_aside(JOB_LOOK_MS);
	may_hang = true;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(touch_of_look("fifo"), 0);
	put_text("file", "text");
	assert_int_equal(touch_of_look("file"), IN_OPEN | IN_ACCESS);
	assert_int_equal(look_in_time("missing"), 0);
}

static void where_nothing_may_hang_nothing_is_looked_at(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_text("file", "text");
	allow_work_aside(JOB_LOOK_MS);
	may_hang = false;
	assert_int_equal(touch_of_look("file"), 0);
	may_hang = true;
	allow_work_aside(0);
	assert_int_equal(touch_of_look("file"), 0);
}

static void set_zone(const char *zone, const char *folder)
{
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	if (folder)
		setenv("TZDIR", folder, 1);
	else
		unsetenv("TZDIR");
}

/* The file of any other zone lies in the folder of zones. */
static void a_zone_answers_if_its_file_or_folder_does(void **state)
{
	static const struct {
		const char *zone, *folder, *hanging;
	} CASES[] = {{"/z/file", NULL, "/z/file"},
		     {":/z/file", NULL, "/z/file"},
		     {"/z/file", "/z", "/z/file"},
		     {"Here", "/z", "/z"},
		     {":Here", "/z", "/z"},
		     {NULL, "/z", "/z"},
		     {"", "/z", "/z"}};
	char *zone = getenv("TZ"), *folder = getenv("TZDIR");

	(void)state;
	zone = zone ? strdup(zone) : NULL;
	folder = folder ? strdup(folder) : NULL;
	may_hang = true;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		allow_work_aside(JOB_LOOK_MS);
		set_zone(CASES[i].zone, CASES[i].folder);
		hanging = CASES[i].hanging;
		assert_false(zone_answers());
		hanging = "/other";
		assert_true(zone_answers());
		zone_in_time();
		assert_true(!CASES[i].zone == !getenv("TZ") && !CASES[i].folder == !getenv("TZDIR"));
		hanging = CASES[i].hanging;
		zone_in_time();
		assert_string_equal(getenv("TZ"), "UTC0");
		assert_null(getenv("TZDIR"));
	}
	allow_work_aside(JOB_LOOK_MS);
	set_zone("Here", NULL);
	hanging = "Here";
	assert_true(zone_answers());
	set_zone(NULL, NULL);
	assert_true(zone_answers());
	allow_work_aside(0);
	hanging = NULL;
	set_zone(zone, folder);
	free(zone);
	free(folder);
}

static void do_nothing(void *data)
{
	(void)data;
}

static void wait_for_ever(void *data)
{
	(void)data;
	while (true)
		pause();
}

/* How long a call might have taken, of which each wait takes so long. */
static int most_of_call(int ms)
{
	char data = 0;

	takes_ms = ms;
	assert_int_equal(act_in_time("path", do_nothing, &data, sizeof data), 0);
	return waited_ms;
}

static void begin_time(void)
{
	may_hang = true;
	hanging = NULL;
	is_driven = true;
	allow_work_aside(250);
}

static void all_calls_share_the_time_of_two(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	begin_time();
	assert_int_equal(most_of_call(200), 250);
	assert_int_equal(most_of_call(200), 250);
	assert_int_equal(most_of_call(60), 100);
	assert_int_equal(most_of_call(19), 40);
	assert_int_equal(most_of_call(1), 21);
	/* Each has 20 ms. */
	assert_int_equal(most_of_call(5), 20);
	assert_int_equal(most_of_call(100), 20);
	assert_int_equal(most_of_call(0), 20);
	allow_work_aside(250);
	assert_int_equal(most_of_call(0), 250);
	/* A signal begins the wait anew. */
	interruptions = 2;
	assert_int_equal(most_of_call(100), 250);
	assert_int_equal(interruptions, 0);
	assert_int_equal(most_of_call(0), 200);
	allow_work_aside(0);
	is_driven = false;
}

static void a_look_that_is_answered_costs_no_time(void **state)
{
	char data = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	begin_time();
	takes_ms = 240;
	for (int i = 0; i < 4; i++)
		assert_int_equal(look_aside("path", do_nothing, &data, sizeof data), 0);
	assert_int_equal(most_of_call(0), 250);
	hangs = true;
	assert_int_equal(look_aside("path", wait_for_ever, &data, sizeof data), -ETIMEDOUT);
	hangs = false;
	assert_int_equal(most_of_call(0), 250);
	hangs = true;
	assert_int_equal(act_in_time("path", wait_for_ever, &data, sizeof data), -ETIMEDOUT);
	assert_string_equal(hung, "path");
	hangs = false;
	assert_int_equal(most_of_call(0), 20);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	allow_work_aside(0);
	is_driven = false;
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_look_opens_files_and_folders_alone),
		cmocka_unit_test(a_zone_answers_if_its_file_or_folder_does),
		cmocka_unit_test(all_calls_share_the_time_of_two),
		cmocka_unit_test(a_look_that_is_answered_costs_no_time),
		unit_test_in_scratch(where_nothing_may_hang_nothing_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
