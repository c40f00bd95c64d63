/* Tests of src/job/programs/program_names.c: names that the listener has met. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/programs/program_names.h"
#include "job/programs/program_tuning.h"

static void test_each_name_is_kept_once_up_to_a_limit(void **state)
{
	static struct program_names names;
	const char *first = program_names_keep(&names, "name 0");
	char name[32];

	(void)state;
	for (int i = 0; i < PROGRAM_NAMES_MOST; i++) {
		snprintf(name, sizeof name, "name %d", i);
		assert_non_null(program_names_keep(&names, name));
	}
	assert_int_equal(names.count, PROGRAM_NAMES_MOST);
	assert_ptr_equal(program_names_keep(&names, "name 0"), first);
	assert_null(program_names_keep(&names, "one more"));
	program_names_done(&names);
}

/* The kernel keeps 15 bytes of a name. */
static void test_the_name_of_a_process_is_that_of_a_known_program(void **state)
{
	static const struct {
		const char *comm, *program;
	} CASES[] = {
		{"make", "make"},
		{"python3", "python3 train.py"},
		{"train.py", "python3 train.py"},
		{"a-very-long-nam", "a-very-long-name-of-a-program"},
		{"a-very-long", "a-very-long"},
		{"mak", "mak"},
	};
	static struct program_names names;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_non_null(program_names_keep(&names, CASES[i].program));
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		bool is_bare = i == 1;

		/* A bare interpreter may have run any script. */
		assert_string_equal(program_names_of(&names, CASES[i].comm),
				    is_bare ? "python3" : CASES[i].program);
		assert_true(program_names_match(CASES[i].program, CASES[i].comm));
	}
	/* The kernel has cut the name of the interpreter. */
	assert_non_null(program_names_keep(&names, "a-long-interpreter script"));
	assert_string_equal(program_names_of(&names, "a-long-interpre"), "a-long-interpreter script");
	/* Its name may have one letter. */
	assert_non_null(program_names_keep(&names, "R fit.R"));
	assert_string_equal(program_names_of(&names, "fit.R"), "R fit.R");
	assert_string_equal(program_names_of(&names, "R"), "R");
	assert_string_equal(program_names_of(&names, "another-name-of"), "another-name-of");
	assert_false(program_names_match("make", "mak"));
	assert_false(program_names_match("mak", "make"));
	program_names_done(&names);
}

static void test_the_program_of_a_process_comes_from_its_arguments(void **state)
{
	static struct program_names names;
	const char *name = program_names_read(&names, getpid());

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_non_null(name);
	assert_non_null(strstr(name, "unit-programs"));
	assert_null(program_names_read(&names, 1 << 23));
	program_names_done(&names);
}

/* It has no arguments any more. */
static void test_a_zombie_still_has_its_name(void **state)
{
	static struct program_names names;
	siginfo_t info;
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_NAME, "odd (name) 1");
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_string_equal(program_names_read(&names, pid), "odd (name) 1");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(program_names_read(&names, pid));
	program_names_done(&names);
	assert_int_equal(names.count, 0);
}

/* execve(2) takes an empty argument, and Linux 5.18 and later add one to an empty list. */
static void test_a_process_with_an_empty_argument_has_the_kernels_name(void **state)
{
	static struct program_names names;
	const char *name = NULL;
	int ends[2];
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		(void)prctl(PR_SET_NAME, "before");
		(void)execl("/bin/sh", "", "-c", "read end", (char *)NULL);
		_exit(1);
	}
	close(ends[0]);
	assert_true(pid > 0);
	/* Until exec, it is a copy of this program. */
	while ((name = program_names_read(&names, pid)) && strstr(name, "unit-programs"))
		usleep(1000);
	close(ends[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_non_null(name);
	assert_string_equal(name, "sh");
	program_names_done(&names);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_name_is_kept_once_up_to_a_limit),
		cmocka_unit_test(test_the_name_of_a_process_is_that_of_a_known_program),
		cmocka_unit_test(test_the_program_of_a_process_comes_from_its_arguments),
		cmocka_unit_test(test_a_zombie_still_has_its_name),
		cmocka_unit_test(test_a_process_with_an_empty_argument_has_the_kernels_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
