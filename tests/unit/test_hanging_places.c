/* Tests of src/cli: no file system that hangs keeps a job from its start, its mark or its end. */
#include "captured.h"
#include "command_words.h"
#include "served_folder.h"

#include "cli/config_file.h"
#include "cli/end_places.h"
#include "cli/front.h"
#include "cli/keep_run.h"
#include "cli/subcommands.h"
#include "launch/in_time.h"

enum { LOOK_MS = 20 };

static struct front front;

/* In a child of the test, where cmocka cannot fail. */
#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			print_error("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

static int start(const char *words)
{
	char line[400];

	front_done(&front);
	front = (struct front){0};
	allow_work_aside(LOOK_MS);
	snprintf(line, sizeof line, "resource-tracker %s", words);
	return front_read(words_of(line), &front);
}

/* They may answer at the end. */
static void name_places_of_the_end(void)
{
	allow_work_aside(LOOK_MS);
	EXPECT(!why_no_page("served/page.html"));
	EXPECT(!why_no_line("served/runs"));
	EXPECT(start("-q --report served/page.html --runs served/runs -- true") == -1);
	EXPECT(strcmp(front.page, "served/page.html") == 0);
	EXPECT(strcmp(front.runs, "served/runs") == 0);
	EXPECT(front.temporary_fd > STDERR_FILENO);
}

static void places_of_the_end_are_not_waited_for(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(name_places_of_the_end);
	assert_printed("err", "");
}

static void read_configurations(void)
{
	struct given_list list = {0};

	allow_work_aside(LOOK_MS);
	EXPECT(read_config_file("served/named.toml", ORIGIN_CONFIG, true, true, &list) == 0);
	EXPECT(read_config_file("served/found.toml", ORIGIN_CONFIG, false, true, &list) == 0);
	EXPECT(read_config_file("served/quiet.toml", ORIGIN_CONFIG, true, false, &list) == 0);
	EXPECT(list.count == 0);
}

static void a_configuration_is_gone_on_without(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(read_configurations);
	assert_printed("err",
		       "resource-tracker: served/named.toml: its file system does not answer; going on "
		       "without it\n"
		       "resource-tracker: served/found.toml: its file system does not answer; going on "
		       "without it\n");
}

static void mark_a_phase(void)
{
	EXPECT(run_mark(words_of("mark load --file=served/marks")) == 0);
}

static void a_mark_is_given_up(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(mark_a_phase);
	assert_printed("err", "resource-tracker mark: the phase is not marked: served/marks: its file system "
			      "does not answer\n");
}

static bool is_temporary_in(const char *place)
{
	char link[40], target[100] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", front.temporary_fd);
	/* It has no name. */
	return readlink(link, target, sizeof target - 1) > 0 && strncmp(target, place, strlen(place)) == 0 &&
	       strstr(target, " (deleted)");
}

static void record_to_a_temporary_file(void)
{
	EXPECT(start("--summary -o served/run.csv -- true") == -1);
	EXPECT(is_temporary_in("/tmp/"));
	setenv("TMPDIR", "served", 1);
	EXPECT(start("-q --summary -- true") == -1);
	EXPECT(is_temporary_in("/tmp/"));
	unsetenv("TMPDIR");
	/* That folder hangs, too. */
	EXPECT(mount_served("/tmp") == 0);
	paths_look_again();
	EXPECT(start("-q --no-warnings --summary -- true") == -1);
	EXPECT(is_temporary_in("/memfd:"));
	EXPECT(fcntl(front.temporary_fd, F_GETFL) & O_APPEND);
}

static void a_temporary_recording_is_elsewhere(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(record_to_a_temporary_file);
	assert_printed("err", "");
}

static void keep_a_run(void)
{
	EXPECT(start("-q --no-history --history served/hist -- true") == -1);
	EXPECT(begin_kept_run(&front) == 0);
	EXPECT(!front.kept_path && !front.kept_fd);
	front.no_warnings = true;
	EXPECT(begin_kept_run(&front) == 0);
	front.kept_path = strdup("served/hist/1.jsonl");
	drop_kept_run(&front);
	EXPECT(!front.kept_path);
}

static void a_run_is_not_kept(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	with_served_folder(keep_a_run);
	assert_printed(
		"err",
		"resource-tracker: this run is not kept: served/hist: its file system does not answer\n");
}

static int begin(void **state)
{
	static const char *const VARIABLES[] = {"CI",
						"TMPDIR",
						"TRACKER_CONFIG",
						"TRACKER_FORMAT",
						"TRACKER_OUTPUT",
						"TRACKER_REPORT",
						"TRACKER_RUNS",
						"TRACKER_SUMMARY"};

	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
		unsetenv(VARIABLES[i]);
	setenv("TRACKER_SITE_CONFIG", "", 1);
	return capture_streams(state);
}

#define unit_test_of_places(test) cmocka_unit_test_setup_teardown(test, begin, free_streams)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_places(places_of_the_end_are_not_waited_for),
		unit_test_of_places(a_configuration_is_gone_on_without),
		unit_test_of_places(a_mark_is_given_up),
		unit_test_of_places(a_temporary_recording_is_elsewhere),
		unit_test_of_places(a_run_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
