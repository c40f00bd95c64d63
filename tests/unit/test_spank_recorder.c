/* Tests of src/slurm/spank_track.c: the process of the recorder, and its start. */
#include "played_slurmstepd.h"

#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { MOST_FILES = 1000 };

static const char SPY_OF_ITSELF[] =
	"#!/bin/sh\n"
	"grep -E '^(Uid|Gid|Groups|SigBlk):' /proc/$$/status | tr '\\t' ' ' >words\n"
	"grep '^SigIgn:' /proc/$$/status >ignored\n"
	"streams=$(readlink /proc/$$/fd/0; readlink /proc/$$/fd/1)\n"
	"[ \"$(readlink /proc/$$/fd/2)\" = \"$(readlink /proc/$$/fd/3)\" ] && echo \"$streams\" >streams\n"
	"(cd /proc/$$/fd && echo *) >files\n"
	"cat /proc/$$/oom_score_adj >oom\n"
	"grep 'Max core' /proc/$$/limits | tr -s ' ' >core\n"
	"cut -d' ' -f6 /proc/$$/stat >session; echo $$ >>session\n"
	"printf '\\000' >&3\n";

static void put_score(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0 && write(fd, score, strlen(score)) > 0);
	close(fd);
}

/* make, nohup and others ignore signals for the programs that they start. */
static void get_ignored(char text[static 64])
{
	FILE *status = fopen("/proc/self/status", "re");

	assert_non_null(status);
	while (fgets(text, 64, status) && strncmp(text, "SigIgn:", 7) != 0)
		continue;
	fclose(status);
}

/* Where standard input and output are a file, as those of slurmstepd may be. */
static void fork_task_with_streams(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), streams[2] = {dup(0), dup(1)};

	assert_true(dup2(file, 0) == 0 && dup2(file, 1) == 1);
	fork_task();
	for (int i = 0; i < 2; i++) {
		dup2(streams[i], i);
		close(streams[i]);
	}
	close(file);
}

/* Nothing of slurmstepd is left in it: its user, open files, signals, session and priority for memory. */
static void the_recorder_is_an_ordinary_process_of_the_user(void **state)
{
	const struct rlimit cores = {1000, 1000};
	struct rlimit before;
	char *session, ignored[64];
	sigset_t all;

	(void)state;
	NEEDS_ROOT();
	put_text("spy", SPY_OF_ITSELF);
	signal(SIGPIPE, SIG_DFL);
	get_ignored(ignored);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_CORE, &before);
	setrlimit(RLIMIT_CORE, &cores);
	put_score("400");
	groups[0] = 12345;
	group_count = 1;
	fork_task_with_streams("standard");
	put_score("0");
	setrlimit(RLIMIT_CORE, &before);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	await_recorders();
	assert_int_equal(errors, 0);
	assert_file_text("words",
			 "Uid: 65534 65534 65534 65534\nGid: 65534 65534 65534 65534\nGroups: 12345 \n"
			 "SigBlk: 0000000000000000\n");
	assert_file_text("ignored", ignored);
	assert_file_text("streams", "/dev/null\n/dev/null\n");
	assert_file_text("oom", "0\n");
	assert_file_text("core", "Max core file size 0 0 bytes \n");
	session = get_file("session", NULL);
	/* It leads a session of its own. */
	assert_int_equal(strncmp(session, strchr(session, '\n') + 1, strcspn(session, "\n") + 1), 0);
	free(session);
}

static bool has_close_range(void)
{
	return syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0) == 0;
}

/* In a process with many open files, of which each may be closed by itself, or none. */
static void start_with_files(int one_by_one)
{
	const struct rlimit files = {MOST_FILES, MOST_FILES};
	int file = open("/dev/null", O_RDONLY);

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		_exit(98);
	for (int fd = 3; fd < 20; fd++)
		dup2(file, fd);
	dup2(file, MOST_FILES - 1);
	if (one_by_one)
		replace_call(SYS_close_range, 4, SECCOMP_RET_ERRNO | ENOSYS);
	else
		replace_call(SYS_close, MOST_FILES - 1, SECCOMP_RET_KILL);
	fork_task();
}

static void the_recorder_has_no_file_of_slurmstepd(void **state)
{
	(void)state;
	NEEDS_ROOT();
	put_text("spy", SPY_OF_ITSELF);
	for (int one_by_one = !has_close_range(); one_by_one < 2; one_by_one++) {
		assert_int_equal(in_child(start_with_files, one_by_one), 0);
		/* Besides those of the shell: 0 to 3, and at most its script. */
		assert_true(file_has_line("files", "0 1 2 3") || file_has_line("files", "0 1 10 2 3") ||
			    file_has_line("files", "0 1 2 255 3"));
		assert_int_equal(unlink("files"), 0);
	}
}

static void close_all_but_output(int unused)
{
	(void)unused;
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	close(0);
	fork_task();
}

/* As in a slurmstepd whose standard input is closed: the socket has the number that the recorder reads from. */
static void the_socket_may_have_the_number_of_the_recorder(void **state)
{
	(void)state;
	NEEDS_ROOT();
	assert_int_equal(in_child(close_all_but_output, 0), 0);
	assert_int_equal(access("words", F_OK), 0);
}

static void a_recorder_without_its_descriptors_does_not_start(void **state)
{
	int file;

	(void)state;
	NEEDS_ROOT();
	/* 0 is open, so that the socket has another number than 3. */
	file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (int i = 1; i <= 4; i++) {
		errors = 0;
		refused_dup2 = i;
		fork_task();
		assert_int_equal(errors, 1);
		assert_int_equal(access("words", F_OK), -1);
		/* It has tried to start, and says so. */
		assert_int_equal(await_recorders(), 1 << 8);
	}
	refused_dup2 = 5;
	assert_true(record_task());
	assert_int_equal(close(file), 0);
}

static void refuse_to_fork(int allowed)
{
	/* The limit counts all processes of a user, so this one has no other. */
	const uid_t other = 30000 + (uid_t)getpid() % 30000;
	const struct rlimit processes = {(rlim_t)allowed, (rlim_t)allowed};

	if (setgid(other) < 0 || setuid(other) < 0 || setrlimit(RLIMIT_NPROC, &processes) < 0)
		_exit(98);
	fork_task();
	if (!strstr(last_error, "did not start"))
		_exit(97);
}

static void a_process_that_cannot_be_started_is_told(void **state)
{
	(void)state;
	NEEDS_ROOT();
	/* Neither the first one, nor the recorder, of which the last error tells, too. */
	assert_int_equal(in_child(refuse_to_fork, 1), 2);
	assert_int_equal(in_child(refuse_to_fork, 2), 2);
	/* The recorder cannot become the user. */
	assert_int_equal(in_child(refuse_to_fork, 3), 1);
	assert_int_equal(access("words", F_OK), -1);
}

static void refuse_call(int number)
{
	replace_call(number, number == SYS_setgroups ? (unsigned)group_count : user,
		     SECCOMP_RET_ERRNO | EPERM);
	fork_task();
}

static void stay_root(int unused)
{
	(void)unused;
	/* The process is told that it is root again. */
	replace_call(SYS_setuid, 0, SECCOMP_RET_ERRNO | 0);
	fork_task();
}

/* As when slurmstepd runs in a container without these rights. */
static void a_recorder_that_cannot_become_the_user_does_not_start(void **state)
{
	(void)state;
	NEEDS_ROOT();
	assert_int_equal(in_child(refuse_call, SYS_setgroups), 1);
	assert_int_equal(in_child(refuse_call, SYS_setgid), 1);
	assert_int_equal(in_child(refuse_call, SYS_setuid), 1);
	assert_int_equal(in_child(stay_root, 0), 1);
	assert_int_equal(access("words", F_OK), -1);
	/* A job of root stays one. */
	user = 0;
	assert_true(record_task());
	assert_int_equal(errors, 0);
}

static bool stand_for(const char *path, const char *text)
{
	put_text("stands", text);
	return rename("stands", path + strlen("/proc/self/")) == 0 &&
	       mount(path + strlen("/proc/self/"), path, NULL, MS_BIND, NULL) == 0;
}

/* In a namespace of mounts, files of this test stand for those of a process in the group of a step. */
static void fork_in_group(int has_group)
{
	char mounts[PATH_MAX] = "none /tmp tmpfs rw 0 0\n";
	int before = open_descriptors();

	if (has_group)
		snprintf(mounts, sizeof mounts, "none %s cgroup2 rw 0 0\n", job_folder);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    !stand_for("/proc/self/cgroup", "0::/scope/job_7/step_0/slurm\n") ||
	    !stand_for("/proc/self/mounts", mounts))
		_exit(99);
	fork_task();
	if (errors &&
	    !strstr(last_error, "task 5 of job 7 before it has recorded the end, because it is in the "
				"control group of the step: Not a directory"))
		_exit(98);
	if (open_descriptors() != before + 1)
		_exit(97);
}

static void the_recorder_leaves_the_group_of_the_step(void **state)
{
	size_t length;
	int told;

	(void)state;
	NEEDS_ROOT();
	told = in_child(fork_in_group, false);
	if (told == 99)
		SKIP("this user may have no mounts of their own");
	assert_int_equal(told, 1);
	assert_int_equal(mkdir("scope", 0755) | mkdir("scope/resource-tracker", 0755), 0);
	put_text("scope/resource-tracker/cgroup.procs", "");
	assert_int_equal(in_child(fork_in_group, true), 0);
	assert_file_text("scope/resource-tracker/cgroup.procs", "0");
	/* The one byte that the kernel wants. */
	free(get_file("scope/resource-tracker/cgroup.procs", &length));
	assert_int_equal(length, 1);
}

static void a_folder_that_is_absent_is_replaced_by_the_root(void **state)
{
	(void)state;
	NEEDS_ROOT();
	put_text("spy", "#!/bin/sh\npwd >\"${0%/*}\"/folder\nprintf '\\000' >&3\n");
	environment[0] = (char[]){"PWD=/nonexistent"};
	fork_task();
	assert_file_text("folder", "/\n");
	environment[0] = (char[]){"PWDS=/usr"};
	fork_task();
	assert_file_text("folder", "/\n");
	environment[0] = (char[]){"PWD=/usr"};
	fork_task();
	assert_file_text("folder", "/usr\n");
	end_task();
	await_recorders();
	assert_int_equal(errors, 0);
}

static void a_slurmstepd_that_ignores_its_children_starts_recorders(void **state)
{
	(void)state;
	NEEDS_ROOT();
	/* Without a command, for which a shell would have to wait. */
	put_text("spy", "#!/bin/sh\n: >words\nprintf '\\000' >&3\n");
	signal(SIGCHLD, SIG_IGN);
	fork_task();
	signal(SIGCHLD, SIG_DFL);
	assert_int_equal(access("words", F_OK), 0);
	end_task();
	await_recorders();
	assert_int_equal(errors, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_plugin(a_slurmstepd_that_ignores_its_children_starts_recorders),
		unit_test_of_plugin(the_recorder_is_an_ordinary_process_of_the_user),
		unit_test_of_plugin(the_recorder_has_no_file_of_slurmstepd),
		unit_test_of_plugin(the_socket_may_have_the_number_of_the_recorder),
		unit_test_of_plugin(a_recorder_without_its_descriptors_does_not_start),
		unit_test_of_plugin(a_process_that_cannot_be_started_is_told),
		unit_test_of_plugin(a_recorder_that_cannot_become_the_user_does_not_start),
		unit_test_of_plugin(the_recorder_leaves_the_group_of_the_step),
		unit_test_of_plugin(a_folder_that_is_absent_is_replaced_by_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
