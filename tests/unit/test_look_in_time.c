/* Tests of look_in_time() in src/launch/in_time.c, where each path may hang, or none. */
#include "scratch.h"

#include <errno.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "kernel/may_hang.h"
#include "launch/in_time.h"

static bool may_hang;
static const char *hanging; /* NULL: none */

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
	fail_msg("%s", path);
}

void paths_look_again(void)
{
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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_look_opens_files_and_folders_alone),
		cmocka_unit_test(a_zone_answers_if_its_file_or_folder_does),
		unit_test_in_scratch(where_nothing_may_hang_nothing_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
