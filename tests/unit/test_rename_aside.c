/* Tests of src/sink/rename_aside.c. */
#include "in_child.h"
#include "scratch.h"

#include <errno.h>

#include "sink/rename_aside.h"

static void the_first_free_number_is_taken(void **state)
{
	(void)state;
	put_text("run.jsonl", "third");
	put_text("run.jsonl.1", "first");
	put_text("run.jsonl.2", "second");
	put_text("run.jsonl.4", "other");
	assert_int_equal(rename_aside(AT_FDCWD, "run.jsonl"), 3);
	assert_int_equal(access("run.jsonl", F_OK), -1);
	assert_file_text("run.jsonl.1", "first");
	assert_file_text("run.jsonl.2", "second");
	assert_file_text("run.jsonl.3", "third");
	assert_file_text("run.jsonl.4", "other");
}

static void a_link_or_folder_in_the_way_counts_as_taken(void **state)
{
	(void)state;
	put_text("victim", "precious");
	put_text("run", "mine");
	assert_int_equal(symlink("victim", "run.1"), 0);
	assert_int_equal(symlink("nowhere", "run.2"), 0);
	assert_int_equal(mkdir("run.3", 0777), 0);
	assert_int_equal(rename_aside(AT_FDCWD, "run"), 4);
	assert_file_text("victim", "precious");
	assert_file_text("run.4", "mine");
	assert_int_equal(access("nowhere", F_OK), -1);
}

static void a_failed_rename_is_an_error(void **state)
{
	char name[256];

	(void)state;
	assert_int_equal(rename_aside(AT_FDCWD, "missing"), -ENOENT);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	put_text(name, "long");
	assert_int_equal(rename_aside(AT_FDCWD, name), -ENAMETOOLONG);
	assert_file_text(name, "long");
}

/* Simulates a kernel or a file system without it: the system call fails with `error`. */
static void forbid(long number, int error)
{
	if (!fail_call(number, error))
		_exit(99);
}

static void assert_renames_without(bool links)
{
	int status;
	pid_t child;

	put_text("run", "mine");
	put_text("run.1", "earlier");
	child = fork();
	if (child == 0) {
		forbid(SYS_renameat2, ENOSYS);
		if (!links)
			forbid(SYS_linkat, EPERM);
		_exit(rename_aside(AT_FDCWD, "run") == 2 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
		print_message("# no system call filters here\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(access("run", F_OK), -1);
	assert_file_text("run.1", "earlier");
	assert_file_text("run.2", "mine");
}

static void old_kernels_link_and_unlink(void **state)
{
	(void)state;
	assert_renames_without(true);
}

static void file_systems_without_links_reserve_the_name(void **state)
{
	(void)state;
	assert_renames_without(false);
}

static int refusal; /* of renameat2() */

static int refused_by_the_file_system(void)
{
	forbid(SYS_renameat2, refusal);
	return rename_aside(AT_FDCWD, "run") == -refusal ? 0 : 1;
}

/* No other way would help: the first refusal is the answer. */
static void a_refusal_that_concerns_every_way_is_the_answer(void **state)
{
	static const int REFUSALS[] = {EACCES, EROFS, ENOSPC, ENOENT};

	(void)state;
	put_text("run", "mine");
	for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
		int code;

		refusal = REFUSALS[i];
		code = in_child(refused_by_the_file_system);
		if (code == 99)
			SKIP("no system call filters here");
		assert_int_equal(code, 0);
		assert_file_text("run", "mine");
	}
	assert_int_equal(access("run.1", F_OK), -1);
}

static int link_that_cannot_be_moved(void)
{
	forbid(SYS_renameat2, ENOSYS);
	forbid(SYS_unlinkat, EACCES);
	return rename_aside(AT_FDCWD, "run") == -EACCES ? 0 : 1;
}

static void a_file_that_keeps_its_name_is_an_error(void **state)
{
	int code;

	(void)state;
	put_text("run", "mine");
	code = in_child(link_that_cannot_be_moved);
	if (code == 99)
		SKIP("no system call filters here");
	assert_int_equal(code, 0);
	assert_file_text("run", "mine");
}

/* Two programs at once: every file survives, whichever number each gets. */
static void racing_renames_lose_nothing(void **state)
{
	enum { ROUNDS = 100, RACERS = 2 };
	pid_t racers[RACERS];
	bool seen[RACERS][ROUNDS] = {0};

	(void)state;
	for (int racer = 0; racer < RACERS; racer++) {
		racers[racer] = fork();
		if (racers[racer])
			continue;
		for (int round = 0; round < ROUNDS; round++) {
			char mine[32], text[32];

			/* Each racer has its own file and first renames it to the common base with a link. */
			snprintf(text, sizeof text, "%d %d\n", racer, round);
			snprintf(mine, sizeof mine, "own%d", racer);
			put_text(mine, text);
			while (link(mine, "run") < 0)
				;
			unlink(mine);
			if (rename_aside(AT_FDCWD, "run") <= 0)
				_exit(1);
		}
		_exit(0);
	}
	for (int racer = 0; racer < RACERS; racer++) {
		int status;

		assert_int_equal(waitpid(racers[racer], &status, 0), racers[racer]);
		assert_int_equal(status, 0);
	}
	for (int number = 1; number <= RACERS * ROUNDS; number++) {
		char name[32], *text;

		snprintf(name, sizeof name, "run.%d", number);
		text = get_file(name, NULL);
		assert_true(text[0] >= '0' && text[0] < '0' + RACERS);
		for (int round = 0; round < ROUNDS; round++) {
			char expected[32];

			snprintf(expected, sizeof expected, "%c %d\n", text[0], round);
			seen[text[0] - '0'][round] |= strcmp(text, expected) == 0;
		}
		free(text);
	}
	for (int racer = 0; racer < RACERS; racer++)
		for (int round = 0; round < ROUNDS; round++)
			assert_true(seen[racer][round]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_first_free_number_is_taken),
		unit_test_in_scratch(a_link_or_folder_in_the_way_counts_as_taken),
		unit_test_in_scratch(a_failed_rename_is_an_error),
		unit_test_in_scratch(old_kernels_link_and_unlink),
		unit_test_in_scratch(file_systems_without_links_reserve_the_name),
		unit_test_in_scratch(a_refusal_that_concerns_every_way_is_the_answer),
		unit_test_in_scratch(a_file_that_keeps_its_name_is_an_error),
		unit_test_in_scratch(racing_renames_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
