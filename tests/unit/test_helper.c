/* Tests of src/helper: the recorder's side, and the helper program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nvml_script.h"
#include "unit.h"

#include "base/clock.h"
#include "gpu/survey.h"
#include "helper/helper.h"

#define PATIENCE_NS (20 * NSEC_PER_SEC)
#define QUICK_NS (5 * NSEC_PER_MSEC)

static struct gpu_setup setup = {.interval_ns = NSEC_PER_SEC};
static const struct helper_order ORDER = {
	.kind = "gpu",
	.setup = &setup,
	.setup_bytes = sizeof(setup),
	.request_bytes = sizeof(struct gpu_request),
	.answer_bytes = sizeof(struct gpu_survey),
};
static struct gpu_survey survey;
static bool patient; /* nothing is quick under valgrind or a sanitiser */
static char wrapper[64];

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}

static void nap(void)
{
	nanosleep(&(struct timespec){0, NSEC_PER_MSEC}, NULL);
}

/* A program for another processor needs the emulator under which this test runs. */
static void name_program(const char *program)
{
	const char *emulator = getenv("MESON_EXE_WRAPPER");
	FILE *script;

	if (!emulator || !*emulator) {
		setenv("TRACKER_HELPER", program, 1);
		return;
	}
	snprintf(wrapper, sizeof wrapper, "/tmp/test_helper_wrapper.%d", (int)getpid());
	script = fopen(wrapper, "we");
	assert_non_null(script);
	fprintf(script, "#!/bin/sh\nexec %s %s \"$@\"\n", emulator, program);
	assert_int_equal(fclose(script), 0);
	assert_int_equal(chmod(wrapper, 0755), 0);
	setenv("TRACKER_HELPER", wrapper, 1);
}

static int begin(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	name_program(path);
	nvml_script_begin("nvml_fake");
	nvml_script_set("gpus 2\nutilization 1 42 0\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	nvml_script_end();
	if (*wrapper)
		unlink(wrapper);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return 0;
}

static struct helper *start(void)
{
	struct helper *helper = NULL;

	assert_int_equal(helper_start(&ORDER, &helper), 0);
	return helper;
}

static ptrdiff_t wait_for_answer(struct helper *helper, uint64_t after)
{
	int64_t until_ns = now_ns() + PATIENCE_NS;

	while (helper_answer_number(helper) <= after && now_ns() < until_ns)
		nap();
	return helper_latest(helper, &survey, sizeof survey, NULL);
}

static void wait_for_failures(const struct helper *helper, int64_t count)
{
	int64_t until_ns = now_ns() + PATIENCE_NS;

	while (helper_failures(helper) < count && now_ns() < until_ns)
		nap();
	assert_true(helper_failures(helper) >= count);
}

/* Waits until both processes exist. */
static void find_pids(const struct helper *helper, pid_t pids[2])
{
	int64_t until_ns = now_ns() + PATIENCE_NS;

	while (helper_pids(helper, pids) < 2 && now_ns() < until_ns)
		nap();
	assert_int_equal(helper_pids(helper, pids), 2);
}

/* Tells whether it is dead, or a zombie that init has not reaped yet. */
static bool is_dead(pid_t pid)
{
	char path[64], stat[512] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	(void)!read(fd, stat, sizeof stat - 1);
	close(fd);
	state = strrchr(stat, ')');
	return !state || state[2] == 'Z' || state[2] == 'X';
}

static void assert_dies(pid_t pid)
{
	int64_t until_ns = now_ns() + PATIENCE_NS;

	while (!is_dead(pid) && now_ns() < until_ns)
		nap();
	assert_true(is_dead(pid));
}

/* On a busy machine a process may wait for its turn, but a wait for a hanging call would never end. */
static int64_t stop_quickly(struct helper *helper)
{
	int64_t began_ns = now_ns();

	helper_stop(helper);
	assert_true(now_ns() - began_ns < NSEC_PER_SEC);
	return now_ns() - began_ns;
}

/* ---- questions and answers ------------------------------------------------------------------------- */

static void answers_come_by_themselves(void **state)
{
	struct helper *helper = start();
	struct gpu_request *request = calloc(1, sizeof *request);
	uint64_t number;

	(void)state;
	assert_int_equal(gpu_survey_unpack(&survey, (size_t)wait_for_answer(helper, 0)), 0);
	assert_int_equal(survey.device_count, 2);
	assert_true(survey.devices[1].readings[GPU_UTILIZATION_PCT].value > 41);
	request->sampled_ns = now_ns();
	assert_int_equal(helper_ask(helper, request, gpu_request_bytes(request)), 0);
	number = helper_answer_number(helper);
	assert_true(wait_for_answer(helper, number) > 0);
	assert_true(helper_cpu_ns(helper) > 0);
	assert_int_equal(helper_failures(helper), 0);
	assert_int_equal(helper_ask(helper, request, 2 * sizeof *request), -EMSGSIZE);
	free(request);
	stop_quickly(helper);
	helper_stop(NULL);
}

static void where_there_is_nothing_to_do_it_ends(void **state)
{
	/* The helper ignores the vendor of a library that is installed. */
	const struct gpu_setup other = {.vendor = "none", .interval_ns = NSEC_PER_SEC / 10};
	struct helper_order order = ORDER;
	struct helper *helper;
	pid_t pids[2];
	int64_t until_ns = now_ns() + PATIENCE_NS;

	(void)state;
	order.setup = &other;
	assert_int_equal(helper_start(&order, &helper), 0);
	assert_int_equal(gpu_survey_unpack(&survey, (size_t)wait_for_answer(helper, 0)), 0);
	assert_int_equal(survey.device_count, 0);
	while (helper_pids(helper, pids) && now_ns() < until_ns)
		nap();
	assert_int_equal(helper_pids(helper, pids), 0);
	assert_true(helper_ended_content(helper));
	stop_quickly(helper);
}

static void without_the_program_there_is_none(void **state)
{
	struct helper *helper = NULL;

	(void)state;
	setenv("TRACKER_HELPER", "/nonexistent/helper", 1);
	assert_int_equal(helper_start(&ORDER, &helper), -ENOENT);
	assert_null(helper);
}

static void another_version_of_the_program_is_told(void **state)
{
	struct helper_order order = ORDER;
	struct helper *helper = NULL;

	(void)state;
	order.answer_bytes -= 64;
	assert_int_equal(helper_start(&order, &helper), -EPROTO);
	order = ORDER;
	order.kind = "nothing of ours";
	assert_int_equal(helper_start(&order, &helper), -EPROTO);
	assert_null(helper);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* ---- effects on the job ---------------------------------------------------------------------------- */

static void it_holds_nothing_of_the_job(void **state)
{
	struct helper *helper;
	char path[64], link[64] = "";
	pid_t pids[2];
	int fds[2], kept;
	char byte;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	kept = fcntl(fds[1], F_DUPFD, 100);
	helper = start();
	find_pids(helper, pids);
	wait_for_answer(helper, 0);
	close(fds[1]);
	close(kept);
	/* The pipe is at its end although the helper still runs. */
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	for (int i = 0; i < 2; i++) {
		for (int fd = 0; fd < 3; fd++) {
			snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pids[i], fd);
			assert_true(readlink(path, link, sizeof link - 1) > 0);
			assert_string_equal(link, "/dev/null");
		}
		assert_int_not_equal(getsid(pids[i]), getsid(0));
		snprintf(path, sizeof path, "/proc/%d/cwd", (int)pids[i]);
		memset(link, 0, sizeof link);
		assert_true(readlink(path, link, sizeof link - 1) > 0);
		assert_string_equal(link, "/");
	}
	helper_stop(helper);
}

static void helper_is_invisible_to_the_callers_wait(void **state)
{
	struct helper *helper = start();
	pid_t pids[2];

	(void)state;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	find_pids(helper, pids);
	stop_quickly(helper);
	assert_dies(pids[0]);
	assert_dies(pids[1]);
}

static void a_subreaper_is_left_without_zombies(void **state)
{
	struct helper *helper;

	(void)state;
	/* Emulators lack this call. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		skip();
	helper = start();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
	wait_for_answer(helper, 0);
	stop_quickly(helper);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void signals_of_the_terminal_are_not_for_it(void **state)
{
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1};
	struct helper *helper = start();
	pid_t pids[2];
	uint64_t number;

	(void)state;
	find_pids(helper, pids);
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++) {
		kill(pids[0], SIGNALS[i]);
		kill(pids[1], SIGNALS[i]);
	}
	number = helper_answer_number(helper);
	assert_true(wait_for_answer(helper, number + 1) > 0);
	assert_int_equal(helper_failures(helper), 0);
	helper_stop(helper);
}

/* The time that this machine needs now for the end of a process that first ends its own child, as the helper does. */
static int64_t end_of_two_ns(void)
{
	int sockets[2];
	int64_t began_ns;
	pid_t parent;
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	parent = fork();
	if (parent == 0) {
		pid_t child;

		close(sockets[0]);
		child = fork();
		if (child == 0)
			pause();
		(void)!write(sockets[1], "r", 1);
		(void)!read(sockets[1], &byte, 1);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		_exit(0);
	}
	close(sockets[1]);
	assert_int_equal(read(sockets[0], &byte, 1), 1);
	began_ns = now_ns();
	close(sockets[0]);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	return now_ns() - began_ns;
}

/* ---- failures -------------------------------------------------------------------------------------- */

static void a_call_that_hangs_delays_nothing(void **state)
{
	int64_t best_ns = INT64_MAX, least_ns = 0;

	(void)state;
	nvml_script_set("gpus 1\nhang nvmlInit\n");
	/* Beside other load, each end waits for a CPU. */
	for (int i = 0; i < 10 && best_ns > QUICK_NS + least_ns; i++) {
		struct helper *helper = start();
		int64_t took_ns, machine_ns = end_of_two_ns();
		pid_t pids[2];

		find_pids(helper, pids);
		assert_int_equal(helper_latest(helper, &survey, sizeof survey, NULL), -EAGAIN);
		took_ns = stop_quickly(helper);
		best_ns = took_ns < best_ns ? took_ns : best_ns;
		least_ns = i && least_ns < machine_ns ? least_ns : machine_ns;
		assert_dies(pids[0]);
		assert_dies(pids[1]);
	}
	if (!patient && best_ns > QUICK_NS + least_ns)
		fail_msg("stopping took %.1f ms, and the machine alone %.1f ms", (double)best_ns / 1e6,
			 (double)least_ns / 1e6);
}

static void a_crash_is_counted_and_begun_anew(void **state)
{
	struct helper *helper;
	pid_t first[2], second[2];

	(void)state;
	helper = start();
	wait_for_answer(helper, 0);
	find_pids(helper, first);
	nvml_script_set("gpus 2\ncrash nvmlDeviceGetUtilizationRates\n");
	wait_for_failures(helper, 1);
	/* The answer from before the crash is still there. */
	assert_int_equal(
		gpu_survey_unpack(&survey, (size_t)helper_latest(helper, &survey, sizeof survey, NULL)), 0);
	assert_int_equal(survey.device_count, 2);
	nvml_script_set("gpus 1\n");
	find_pids(helper, second);
	assert_int_equal(first[0], second[0]);
	assert_int_not_equal(first[1], second[1]);
	wait_for_answer(helper, helper_answer_number(helper));
	assert_int_equal(
		gpu_survey_unpack(&survey, (size_t)helper_latest(helper, &survey, sizeof survey, NULL)), 0);
	assert_int_equal(survey.device_count, 1);
	stop_quickly(helper);
	assert_dies(second[1]);
}

static void a_stopped_helper_is_killed(void **state)
{
	struct helper *helper;
	pid_t pids[2];

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	helper = start();
	wait_for_answer(helper, 0);
	find_pids(helper, pids);
	kill(pids[0], SIGSTOP);
	kill(pids[1], SIGSTOP);
	stop_quickly(helper);
	assert_dies(pids[0]);
	assert_dies(pids[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* While a tracer holds a process, no other process can reap it. */
static void a_helper_that_cannot_be_waited_for_is_left(void **state)
{
	struct helper *helper = start();
	pid_t pids[2], tracer;
	int ready[2];
	char byte;

	(void)state;
	wait_for_answer(helper, 0);
	find_pids(helper, pids);
	assert_int_equal(pipe(ready), 0);
	tracer = fork();
	if (tracer == 0) {
		bool traces = ptrace(PTRACE_SEIZE, pids[1], NULL, NULL) == 0;

		ptrace(PTRACE_INTERRUPT, pids[1], NULL, NULL);
		(void)!write(ready[1], traces ? "y" : "n", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (byte == 'y')
		stop_quickly(helper);
	else
		helper_stop(helper);
	assert_dies(pids[0]);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	assert_dies(pids[1]);
	close(ready[0]);
	close(ready[1]);
}

struct recorder {
	pid_t pid;
	pid_t helper_pids[2];
	pid_t heir; /* a child forked without exec, which holds every descriptor of the recorder */
};

static void be_recorder(int told, bool with_heir)
{
	struct recorder self = {.pid = getpid()};
	struct helper *helper = NULL;

	if (helper_start(&ORDER, &helper) == 0)
		while (helper_pids(helper, self.helper_pids) < 2)
			nap();
	self.heir = with_heir ? fork() : -1;
	/* In case the test fails before the test kills us. */
	alarm(60);
	if (self.heir)
		(void)!write(told, &self, sizeof self);
	pause();
	_exit(0);
}

/* Starts a recorder that only waits to be killed, and kills it. */
static struct recorder kill_recorder(bool with_heir)
{
	struct recorder recorder;
	int told[2];
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (pid == 0)
		be_recorder(told[1], with_heir);
	assert_int_equal(read(told[0], &recorder, sizeof recorder), sizeof recorder);
	close(told[0]);
	close(told[1]);
	assert_true(recorder.helper_pids[0] > 0 && recorder.helper_pids[1] > 0);
	assert_false(is_dead(recorder.helper_pids[1]));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return recorder;
}

static void it_dies_with_the_recorder(void **state)
{
	struct recorder recorder = kill_recorder(false);

	(void)state;
	assert_dies(recorder.helper_pids[0]);
	assert_dies(recorder.helper_pids[1]);
}

static void it_dies_with_the_recorder_though_a_child_lives(void **state)
{
	struct recorder recorder = kill_recorder(true);

	(void)state;
	assert_dies(recorder.helper_pids[0]);
	assert_dies(recorder.helper_pids[1]);
	assert_false(is_dead(recorder.heir));
	kill(recorder.heir, SIGKILL);
}

static void a_forked_child_only_frees(void **state)
{
	struct helper *helper = start();
	pid_t pids[2], child;

	(void)state;
	find_pids(helper, pids);
	child = fork();
	if (child == 0) {
		helper_stop(helper);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_true(wait_for_answer(helper, helper_answer_number(helper)) > 0);
	assert_int_equal(helper_pids(helper, pids), 2);
	stop_quickly(helper);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_come_by_themselves, begin, end),
		cmocka_unit_test_setup_teardown(where_there_is_nothing_to_do_it_ends, begin, end),
		cmocka_unit_test_setup_teardown(without_the_program_there_is_none, begin, end),
		cmocka_unit_test_setup_teardown(another_version_of_the_program_is_told, begin, end),
		cmocka_unit_test_setup_teardown(it_holds_nothing_of_the_job, begin, end),
		cmocka_unit_test_setup_teardown(helper_is_invisible_to_the_callers_wait, begin, end),
		cmocka_unit_test_setup_teardown(a_subreaper_is_left_without_zombies, begin, end),
		cmocka_unit_test_setup_teardown(signals_of_the_terminal_are_not_for_it, begin, end),
		cmocka_unit_test_setup_teardown(a_call_that_hangs_delays_nothing, begin, end),
		cmocka_unit_test_setup_teardown(a_crash_is_counted_and_begun_anew, begin, end),
		cmocka_unit_test_setup_teardown(a_stopped_helper_is_killed, begin, end),
		cmocka_unit_test_setup_teardown(a_helper_that_cannot_be_waited_for_is_left, begin, end),
		cmocka_unit_test_setup_teardown(it_dies_with_the_recorder, begin, end),
		cmocka_unit_test_setup_teardown(it_dies_with_the_recorder_though_a_child_lives, begin, end),
		cmocka_unit_test_setup_teardown(a_forked_child_only_frees, begin, end),
	};

	patient = getenv("TEST_UNDER") != NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
