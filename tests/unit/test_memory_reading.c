/* Tests of src/job/memory/memory_reading.c: which pages of a process the sample looks at. */
#include "job/memory/memory_reading.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/proc_pid_statm.h"
#include "unit.h"

enum { RELOCATED_BYTES = 12 << 20, VARIABLES_BYTES = 1 << 20 };

/* As the dynamic linker leaves a library: constant data that it has written, and variables behind them. */
static volatile char *lay_library(void)
{
	size_t size = RELOCATED_BYTES + VARIABLES_BYTES;
	FILE *file = tmpfile();
	char *at;

	if (!file || ftruncate(fileno(file), (off_t)size) < 0)
		return NULL;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
	fclose(file);
	if (at == MAP_FAILED)
		return NULL;
	memset(at, 1, size);
	return mprotect(at, RELOCATED_BYTES, PROT_READ) < 0 ? NULL : at;
}

/* Returns a fork that has overwritten the variables. */
static pid_t fork_of_library(const volatile char *library)
{
	volatile char *variables = (volatile char *)library + RELOCATED_BYTES;
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < VARIABLES_BYTES; i += 1024)
			variables[i] = 2;
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void test_relocated_data_of_a_library_is_common_to_forks(void **state)
{
	const volatile char *library;
	struct memory_reading *reading = NULL;
	struct memory_objects objects = {0};
	struct proc_pid_statm statm;
	struct memory_subject subject;
	struct memory_reader reader;
	struct root root;
	pid_t child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_ADDRESS_SANITISER || UNDER_THREAD_SANITISER)
		skip();
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	library = lay_library();
	assert_non_null(library);
	child = fork_of_library(library);
	assert_int_equal(read_proc_pid_statm(&root, child, &statm), 0);
	reader = (struct memory_reader){.root = &root, .objects = &objects};
	subject = (struct memory_subject){
		.pid = child,
		.anon_pages = statm.resident_pages - statm.shared_pages,
		.with_anon = true,
		.variance_most = 1e18,
	};
	assert_int_equal(memory_reading_take(&reader, &subject, &reading), 0);
	assert_true(reading->anon_kib >= (RELOCATED_BYTES + VARIABLES_BYTES) / 1024);
	assert_true(reading->common_kib >= RELOCATED_BYTES / 1024 * 7 / 8);
	assert_true(reading->exclusive_kib >= VARIABLES_BYTES / 1024 / 2);
	memory_reading_free(reading);
	memory_reader_done(&reader);
	memory_objects_done(&objects);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relocated_data_of_a_library_is_common_to_forks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
