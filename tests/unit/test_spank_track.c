/* Tests of src/slurm/spank_track.c: this test stands for slurmstepd, and a shell for the recorder. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <slurm/spank.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/told_end.h"

int slurm_spank_init(spank_t spank, int argc, char **argv);
int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv);
int slurm_spank_task_exit(spank_t spank, int argc, char **argv);
int slurm_spank_exit(spank_t spank, int argc, char **argv);

enum { NONE = -1, OTHER_USER = 65534, VARIABLES = 5000, GROUPS = 65537, PID = 4321 };
#define BATCH UINT32_C(0xfffffffb)
#define EXTERN UINT32_C(0xfffffffc)
#define INTERACTIVE UINT32_C(0xfffffffa)

static struct spank_option offered;
static spank_err_t offer_result;
static int is_remote, missing, asked, errors, group_count;
static char last_error[1000];
static uint32_t step, exit_status, task_pid;
static char *environment[VARIABLES + 1];
static gid_t groups[GROUPS];

int spank_remote(spank_t spank)
{
	(void)spank;
	return is_remote;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	offered = *option;
	return offer_result;
}

void slurm_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last_error, sizeof last_error, format, arguments);
	va_end(arguments);
	errors++;
}

/* One of 32 bits. */
static uint32_t number_of(spank_item_t item)
{
	return item == S_JOB_UID || item == S_JOB_GID ? OTHER_USER
	       : item == S_JOB_ID                     ? 7
	       : item == S_JOB_STEPID                 ? step
	       : item == S_JOB_NODEID                 ? 2
	       : item == S_JOB_TOTAL_TASK_COUNT       ? 6
	       : item == S_TASK_GLOBAL_ID             ? 5
	       : item == S_TASK_ID                    ? 3
	       : item == S_TASK_PID                   ? task_pid
						      : exit_status;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list results;

	(void)spank;
	asked++;
	va_start(results, item);
	/* The results of a failed call are undefined. */
	if (item == S_JOB_ENV) {
		*va_arg(results, char ***) = environment;
	} else if (item == S_JOB_SUPPLEMENTARY_GIDS) {
		*va_arg(results, gid_t **) = groups;
		*va_arg(results, int *) = group_count;
	} else if (item == S_JOB_NCPUS) {
		*va_arg(results, uint16_t *) = 4;
	} else {
		*va_arg(results, uint32_t *) = number_of(item);
	}
	va_end(results);
	return (int)item == missing ? ESPANK_ERROR : ESPANK_SUCCESS;
}

static struct timespec now;

/* How long the plugin wants to wait each time, and an answer in the place of that of the kernel. */
static struct {
	int times, wanted_ms[4], error;
	bool is_late;
} polls;

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

	assert_int_equal(count, 1);
	if (polls.times < 4)
		polls.wanted_ms[polls.times] = timeout_ms;
	polls.times++;
	if (polls.is_late)
		return 0;
	if (polls.error) {
		errno = polls.error;
		now = (struct timespec){3, 1000000};
		polls.error = 0;
		return -1;
	}
	return (int)syscall(SYS_ppoll, fds, count, &timeout, NULL, 0);
}

/* The plugin has this one alone. */
int clock_gettime(clockid_t id, struct timespec *ret_now)
{
	(void)id;
	*ret_now = now;
	return 0;
}

static struct rusage children;

#ifdef __GLIBC__
int getrusage(__rusage_who_t who, struct rusage *ret_usage)
#else
int getrusage(int who, struct rusage *ret_usage)
#endif
{
	assert_int_equal(who, RUSAGE_CHILDREN);
	*ret_usage = children;
	return 0;
}

static const char SPY[] = "#!/bin/sh\n"
			  "env >env; pwd >folder; printf '%s\\n' \"$@\" >words\n"
			  "printf '\\000' >&3\n"
			  "cat <&3 >told\n";

static void init_plugin(const char *word)
{
	char *words[] = {(char *)(uintptr_t)word};

	assert_int_equal(slurm_spank_init(NULL, 1, words), 0);
}

/* The folder of the test is the job's: where the step runs, or where the batch script was submitted. */
static void put_environment(const char *folder_variable)
{
	static char folder[PATH_MAX],
		job[] = "SLURM_JOB_ID=1", rank[] = "SLURM_PROCID=1", local[] = "SLURM_LOCALID=1",
		node[] = "SLURM_NODEID=1", cpus[] = "SLURM_CPUS_ON_NODE=1", of[] = "SLURM_STEP_ID=9",
		tasks[] = "SLURM_NTASKS=1", name[] = "SLURM_JOB_NAME=n", other[] = "OTHER=1",
		helper[] = "TRACKER_HELPER=/code", net[] = "TRACKER_NET=/code", tag[] = "TRACKER_TAG=a=b",
		home[] = "HOME=/h", path[] = "PATH=/usr/bin:/bin", not_home[] = "HOMES=1";
	char *const given[] = {folder, job,    rank, local, node, cpus, of,       tasks, name,
			       other,  helper, net,  tag,   home, path, not_home, NULL};

	snprintf(folder, sizeof folder, "%s=%s", folder_variable, scratch_folder);
	memcpy(environment, given, sizeof given);
}

static int begin(void **state)
{
	static char recorder[PATH_MAX], output[] = "output=t-%j-%s-%r-%%.jsonl", on[] = "default=on";
	char *words[] = {recorder, output, on};

	if (scratch_enter(state) < 0 || chmod(".", 0777) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -1;
	snprintf(recorder, sizeof recorder, "recorder=%s/spy", scratch_folder);
	put_text("spy", SPY);
	is_remote = 1;
	missing = NONE;
	asked = errors = group_count = 0;
	memset(&polls, 0, sizeof polls);
	now = (struct timespec){1, 999000000};
	step = 1;
	task_pid = PID;
	exit_status = 0x300;
	put_environment("PWD");
	offer_result = ESPANK_SUCCESS;
	return chmod("spy", 0755) < 0 ? -1 : slurm_spank_init(NULL, 3, words);
}

static int end(void **state)
{
	slurm_spank_exit(NULL, 0, NULL);
	return scratch_leave(state);
}

/* The recorders are children of this process once the plugin has left them. */
static void await_recorders(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	assert_int_equal(errno, ECHILD);
}

static void fork_task(void)
{
	assert_int_equal(slurm_spank_task_post_fork(NULL, 0, NULL), 0);
}

static void end_task(void)
{
	assert_int_equal(slurm_spank_task_exit(NULL, 0, NULL), 0);
}

/* Returns whether a recorder was started for one task. */
static bool record_task(void)
{
	fork_task();
	end_task();
	assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
	await_recorders();
	return unlink("words") == 0;
}

#define NEEDS_ROOT() \
	do { \
		NEEDS_THE_KERNEL_ITSELF(); \
		if (geteuid()) \
			SKIP("only root starts a recorder for another user"); \
	} while (0)

static bool file_has_line(const char *path, const char *line)
{
	char *text = get_file(path, NULL), with_ends[2 * PATH_MAX];
	bool has;

	snprintf(with_ends, sizeof with_ends, "\n%s\n", line);
	has = strstr(text, with_ends) || strncmp(text, with_ends + 1, strlen(with_ends + 1)) == 0;
	free(text);
	return has;
}

#define EXPECT_VARIABLE(line) assert_true(file_has_line("env", line))

static bool has_variable(const char *name)
{
	char *text = get_file("env", NULL), *at;

	at = strstr(text, name);
	free(text);
	return at != NULL;
}

/* ---- words ------------------------------------------------------------------------------------------------- */

static void an_unknown_word_of_plugstack_is_told(void **state)
{
	static const char *const KNOWN[] = {"default=off", "default=on", "interval=0.5", "output=a",
					    "recorder=/r"};
	static const char *const UNKNOWN[] = {"default=yes", "recorder", "Output=a", "run=/r", "intervals=1"};

	(void)state;
	for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
		init_plugin(KNOWN[i]);
	assert_int_equal(errors, 0);
	for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++) {
		char text[200];

		init_plugin(UNKNOWN[i]);
		assert_int_equal(errors, i + 1);
		snprintf(text, sizeof text, "resource_tracker: %s in plugstack.conf is unknown", UNKNOWN[i]);
		assert_string_equal(last_error, text);
	}
	init_plugin("interval=0.1");
}

static void the_option_is_offered(void **state)
{
	(void)state;
	assert_string_equal(offered.name, "track");
	/* Its word may be left out. */
	assert_int_equal(offered.has_arg, 2);
	offer_result = ESPANK_ERROR;
	init_plugin("default=on");
	assert_int_equal(errors, 1);
	assert_string_equal(last_error, "resource_tracker: --track cannot be offered");
}

static bool is_enabled(void)
{
	/* It asks for the task, and starts nothing. */
	asked = 0;
	missing = S_TASK_PID;
	fork_task();
	return asked > 0;
}

static void a_word_of_the_option_switches_recording(void **state)
{
	static const struct {
		const char *word;
		bool is_enabled, is_told;
	} CASES[] = {{"off", false, false}, {"on", true, false}, {"off", false, false}, {NULL, true, false},
		     {"off", false, false}, {"", true, false},   {"off", false, false}, {"yes", true, true},
		     {"offf", true, true},  {"of", true, true}};

	(void)state;
	assert_true(is_enabled());
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		/* On a node, srun has told it already. */
		for (int remote = 0; remote < 2; remote++) {
			errors = 0;
			assert_int_equal(offered.cb(0, CASES[i].word, remote), 0);
			assert_int_equal(is_enabled(), CASES[i].is_enabled);
			assert_int_equal(errors, CASES[i].is_told && !remote);
		}
	/* Nothing is recorded in srun itself. */
	is_remote = 0;
	assert_false(is_enabled());
}

/* ---- which tasks ------------------------------------------------------------------------------------------- */

static void a_task_that_slurm_does_not_describe_is_not_recorded(void **state)
{
	static const spank_item_t NEEDED[] = {S_TASK_PID,       S_JOB_UID,    S_JOB_GID,
					      S_JOB_ID,         S_JOB_STEPID, S_TASK_ID,
					      S_TASK_GLOBAL_ID, S_JOB_ENV,    S_JOB_SUPPLEMENTARY_GIDS};

	(void)state;
	NEEDS_ROOT();
	for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++) {
		missing = (int)NEEDED[i];
		assert_false(record_task());
	}
	missing = NONE;
	assert_true(record_task());
	assert_int_equal(errors, 0);
}

static void steps_of_slurm_itself_and_too_many_groups_are_not_recorded(void **state)
{
	(void)state;
	NEEDS_ROOT();
	step = EXTERN;
	assert_false(record_task());
	step = 1;
	assert_true(record_task());
	for (int i = 0; i < GROUPS; i++)
		groups[i] = OTHER_USER;
	group_count = GROUPS;
	assert_false(record_task());
	group_count = GROUPS - 1;
	assert_true(record_task());
}

/* ---- what the recorder is told ------------------------------------------------------------------------------ */

static void the_recorder_is_told_the_task(void **state)
{
	char *words, expected[PATH_MAX];

	(void)state;
	NEEDS_ROOT();
	assert_true(access("words", F_OK) < 0);
	fork_task();
	words = get_file("words", NULL);
	snprintf(expected, sizeof expected,
		 "-q\n--no-summary\n--no-warnings\n-o\nt-7-1-%%r-%%%%.jsonl\n--pid\n%d\n", PID);
	assert_string_equal(words, expected);
	free(words);
	assert_true(file_has_line("folder", scratch_folder));
	EXPECT_VARIABLE("SLURM_JOB_ID=7");
	EXPECT_VARIABLE("SLURM_STEP_ID=1");
	EXPECT_VARIABLE("SLURM_PROCID=5");
	EXPECT_VARIABLE("SLURM_LOCALID=3");
	EXPECT_VARIABLE("SLURM_NODEID=2");
	EXPECT_VARIABLE("SLURM_NTASKS=6");
	EXPECT_VARIABLE("SLURM_CPUS_ON_NODE=4");
	EXPECT_VARIABLE("SLURM_JOB_NAME=n");
	EXPECT_VARIABLE("TRACKER_TAG=a=b");
	EXPECT_VARIABLE("HOME=/h");
	EXPECT_VARIABLE("RESOURCE_TRACKER_STATUS_FD=3");
	EXPECT_VARIABLE("RESOURCE_TRACKER_LEAST_INTERVAL=0.1");
	assert_false(has_variable("OTHER=") || has_variable("HOMES=") || has_variable("=/code"));
	assert_false(has_variable("TRACKER_RUNS="));
	end_task();
	await_recorders();
}

static void numbers_that_slurm_does_not_tell_are_left_out_or_the_least(void **state)
{
	(void)state;
	NEEDS_ROOT();
	missing = S_JOB_NODEID;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NODEID=0");
	missing = S_JOB_TOTAL_TASK_COUNT;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NODEID=2");
	EXPECT_VARIABLE("SLURM_NTASKS=1");
	missing = S_JOB_NCPUS;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NTASKS=6");
	assert_false(has_variable("SLURM_CPUS_ON_NODE="));
}

static void a_job_without_a_file_of_runs_has_that_of_the_administrator(void **state)
{
	(void)state;
	NEEDS_ROOT();
	init_plugin("runs=/srv/runs");
	assert_true(record_task());
	EXPECT_VARIABLE("TRACKER_RUNS=/srv/runs");
	environment[1] = (char[]){"TRACKER_RUNS=/own"};
	assert_true(record_task());
	EXPECT_VARIABLE("TRACKER_RUNS=/own");
	assert_false(has_variable("TRACKER_RUNS=/srv/runs"));
}

/* A batch script has no number of a step, and no folder but that of sbatch. */
static void a_batch_script_runs_where_it_was_submitted(void **state)
{
	static const uint32_t STEPS[] = {BATCH, INTERACTIVE};

	(void)state;
	NEEDS_ROOT();
	put_environment("SLURM_SUBMIT_DIR");
	environment[1] = (char[]){"PWD=/nonexistent"};
	for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
		step = STEPS[i];
		assert_true(access("words", F_OK) < 0);
		fork_task();
		assert_true(file_has_line("words", "t-7-batch-%r-%%.jsonl"));
		assert_false(has_variable("SLURM_STEP_ID=") || has_variable("SLURM_NTASKS="));
		end_task();
		assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
		await_recorders();
		assert_int_equal(unlink("words"), 0);
	}
	/* The last number of a step that srun makes. */
	environment[1] = NULL;
	step = INTERACTIVE - 1;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_STEP_ID=4294967289");
}

/* Slurm's and the recorder's own variables come after those of the job, which are cut off. */
static void the_variables_of_a_job_leave_room_for_those_of_the_task(void **state)
{
	static char texts[VARIABLES][32];
	int kept = 0;

	(void)state;
	NEEDS_ROOT();
	for (int i = 16; i < VARIABLES; i++) {
		snprintf(texts[i], sizeof texts[i], "TRACKER_X%d=", i);
		environment[i] = texts[i];
	}
	environment[VARIABLES] = NULL;
	assert_true(record_task());
	for (int i = 16; i < VARIABLES; i++)
		kept += file_has_line("env", texts[i]);
	/* 4096 less 16, and less those 5 of put_environment() that are taken. */
	assert_int_equal(kept, 4096 - 16 - 4);
	EXPECT_VARIABLE("SLURM_JOB_ID=7");
	EXPECT_VARIABLE("RESOURCE_TRACKER_STATUS_FD=3");
}

static void a_name_of_the_output_has_less_than_4080_bytes(void **state)
{
	static char word[PATH_MAX + 16];

	(void)state;
	NEEDS_ROOT();
	for (int more = 0; more < 2; more++) {
		snprintf(word, sizeof word, "output=%0*d", 4079 + more, 0);
		init_plugin(word);
		fork_task();
		end_task();
		await_recorders();
		assert_int_equal(access("words", F_OK), -more);
		if (!more)
			assert_true(file_has_line("words", word + strlen("output=")));
		(void)unlink("words");
	}
	assert_int_equal(errors, 1);
	assert_string_equal(last_error, "resource_tracker: task 5 of job 7 is not recorded");
	/* A sign at the end stays. */
	init_plugin("output=a%");
	assert_true(access("words", F_OK) < 0);
	fork_task();
	assert_true(file_has_line("words", "a%"));
	end_task();
	await_recorders();
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

static void the_recorder_is_told_the_end_of_its_task_alone(void **state)
{
	struct told_end *told;
	size_t length;

	(void)state;
	NEEDS_ROOT();
	children = (struct rusage){.ru_utime = {3, 900000}, .ru_stime = {2, 300000}};
	fork_task();
	/* Neither of another task, nor one that Slurm does not describe. */
	task_pid = PID + 1;
	end_task();
	task_pid = PID;
	missing = S_TASK_PID;
	end_task();
	missing = S_TASK_EXIT_STATUS;
	end_task();
	missing = NONE;
	children = (struct rusage){.ru_utime = {5, 100000}, .ru_stime = {2, 700000}};
	end_task();
	exit_status = 0;
	end_task();
	await_recorders();
	told = (struct told_end *)(void *)get_file("told", &length);
	assert_int_equal(length, sizeof *told);
	assert_int_equal(told->status, 0x300);
	/* The times of all children less those at the start of the task. */
	assert_int_equal(told->utime_usec, 1200000);
	assert_int_equal(told->stime_usec, 400000);
	free(told);
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void no_descriptor_stays_open(void **state)
{
	int before = open_descriptors();

	(void)state;
	NEEDS_ROOT();
	for (int i = 0; i < 3; i++) {
		task_pid = PID + (uint32_t)i;
		fork_task();
	}
	assert_int_equal(open_descriptors(), before + 3);
	for (int i = 0; i < 3; i++) {
		task_pid = PID + (uint32_t)i;
		end_task();
		assert_int_equal(open_descriptors(), before + 2 - i);
	}
	/* Without a task, nothing is asked. */
	asked = 0;
	end_task();
	assert_int_equal(asked, 0);
	fork_task();
	assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
	assert_int_equal(open_descriptors(), before);
	await_recorders();
	/* The last recorder was told no end. */
	assert_file_text("told", "");
	/* One that does not start leaves none either. */
	put_text("spy", "#!/bin/sh\nprintf 'no\\nreason' >&3\n");
	fork_task();
	assert_int_equal(open_descriptors(), before);
	assert_string_equal(last_error,
			    "resource_tracker: the recorder of task 5 of job 7 did not start: no");
	await_recorders();
	/* No more of a reason than there is room for. */
	put_text("spy", "#!/bin/sh\nprintf '%01000d' 0 >&3\n");
	fork_task();
	assert_int_equal(
		strspn(strchr(last_error, ':') + strlen(": the recorder of task 5 of job 7 did not start: "),
		       "0"),
		499);
	await_recorders();
}

/* ---- the process ------------------------------------------------------------------------------------------- */

static const char SPY_OF_ITSELF[] =
	"#!/bin/sh\n"
	"grep -E '^(Uid|Gid|Groups|SigBlk|SigIgn):' /proc/$$/status | tr '\\t' ' ' >words\n"
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

/* Nothing of slurmstepd is left in it: its user, open files, signals, session and priority for memory. */
static void the_recorder_is_an_ordinary_process_of_the_user(void **state)
{
	const struct rlimit cores = {1000, 1000};
	struct rlimit before;
	char *session;
	sigset_t all;
	int low, high;

	(void)state;
	NEEDS_ROOT();
	put_text("spy", SPY_OF_ITSELF);
	low = open("/dev/null", O_RDONLY);
	high = fcntl(low, F_DUPFD, 1500);
	assert_true(high >= 1500 || (high = fcntl(low, F_DUPFD, 200)) >= 200);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_CORE, &before);
	setrlimit(RLIMIT_CORE, &cores);
	put_score("400");
	groups[0] = 12345;
	group_count = 1;
	fork_task();
	put_score("0");
	setrlimit(RLIMIT_CORE, &before);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	await_recorders();
	assert_int_equal(close(low) | close(high), 0);
	assert_int_equal(errors, 0);
	assert_file_text("words",
			 "Uid: 65534 65534 65534 65534\nGid: 65534 65534 65534 65534\nGroups: 12345 \n"
			 "SigBlk: 0000000000000000\nSigIgn: 0000000000000000\n");
	assert_file_text("oom", "0\n");
	assert_file_text("core", "Max core file size 0 0 bytes \n");
	session = get_file("session", NULL);
	/* It leads a session of its own. */
	assert_int_equal(strncmp(session, strchr(session, '\n') + 1, strcspn(session, "\n") + 1), 0);
	free(session);
	/* Besides those of the shell: 0 to 3, and at most its script. */
	assert_true(file_has_line("files", "0 1 2 3") || file_has_line("files", "0 1 10 2 3") ||
		    file_has_line("files", "0 1 2 255 3"));
}

/* As when slurmstepd runs in a container without that right. */
static void a_recorder_that_cannot_become_the_user_does_not_start(void **state)
{
	pid_t child;
	int status;

	(void)state;
	NEEDS_ROOT();
	child = fork();
	if (child == 0) {
		if (setgid(OTHER_USER) < 0 || setuid(OTHER_USER) < 0)
			_exit(2);
		fork_task();
		_exit(errors != 1 || access("words", F_OK) == 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	await_recorders();
}

static bool stand_for(const char *path, const char *text)
{
	put_text("stands", text);
	return rename("stands", path + strlen("/proc/self/")) == 0 &&
	       mount(path + strlen("/proc/self/"), path, NULL, MS_BIND, NULL) == 0;
}

/* In a namespace of mounts, files of this test stand for those of a process in the group of a step. Returns errors, or 99. */
static int errors_in_group(const char *mounts)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    !stand_for("/proc/self/cgroup", "0::/scope/job_7/step_0/slurm\n") ||
		    !stand_for("/proc/self/mounts", mounts))
			_exit(99);
		fork_task();
		_exit(errors && !strstr(last_error, "task 5 of job 7 before it has recorded the end, because "
						    "it is in the "
						    "control group of the step: Not a directory")
			      ? 98
			      : errors);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	await_recorders();
	return WEXITSTATUS(status);
}

static void the_recorder_leaves_the_group_of_the_step(void **state)
{
	char mounts[PATH_MAX];
	int told;

	(void)state;
	NEEDS_ROOT();
	told = errors_in_group("none /tmp tmpfs rw 0 0\n");
	if (told == 99)
		SKIP("this user may have no mounts of their own");
	assert_int_equal(told, 1);
	assert_int_equal(mkdir("scope", 0755) | mkdir("scope/resource-tracker", 0755), 0);
	put_text("scope/resource-tracker/cgroup.procs", "");
	snprintf(mounts, sizeof mounts, "none %s cgroup2 rw 0 0\n", scratch_folder);
	assert_int_equal(errors_in_group(mounts), 0);
	assert_file_text("scope/resource-tracker/cgroup.procs", "0");
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

static void only_a_signal_begins_the_wait_anew(void **state)
{
	(void)state;
	NEEDS_ROOT();
	polls.error = EINTR;
	assert_true(record_task());
	assert_int_equal(errors, 0);
	assert_int_equal(polls.times, 2);
	assert_int_equal(polls.wanted_ms[0], 5000);
	/* The signal came after 1.002 s. */
	assert_int_equal(polls.wanted_ms[1], 3998);
	polls.times = 0;
	polls.error = EINVAL;
	(void)record_task();
	assert_int_equal(errors, 1);
	assert_int_equal(polls.times, 1);
	assert_int_equal(polls.wanted_ms[0], 5000);
	assert_string_equal(last_error, "resource_tracker: the recorder of task 5 of job 7 did not start");
}

/* The last test: a plugin that has waited in vain waits no longer than 0.1 s from then on. */
static void recorders_that_hang_are_waited_for_once(void **state)
{
	(void)state;
	NEEDS_ROOT();
	polls.is_late = true;
	(void)record_task();
	(void)record_task();
	assert_int_equal(errors, 2);
	assert_int_equal(polls.wanted_ms[1], 100);
	polls.is_late = false;
	assert_true(polls.wanted_ms[0] == 100 || polls.wanted_ms[0] == 5000);
}

#define unit_test_of_plugin(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_plugin(an_unknown_word_of_plugstack_is_told),
		unit_test_of_plugin(the_option_is_offered),
		unit_test_of_plugin(a_word_of_the_option_switches_recording),
		unit_test_of_plugin(a_task_that_slurm_does_not_describe_is_not_recorded),
		unit_test_of_plugin(steps_of_slurm_itself_and_too_many_groups_are_not_recorded),
		unit_test_of_plugin(the_recorder_is_told_the_task),
		unit_test_of_plugin(numbers_that_slurm_does_not_tell_are_left_out_or_the_least),
		unit_test_of_plugin(a_job_without_a_file_of_runs_has_that_of_the_administrator),
		unit_test_of_plugin(a_batch_script_runs_where_it_was_submitted),
		unit_test_of_plugin(the_variables_of_a_job_leave_room_for_those_of_the_task),
		unit_test_of_plugin(a_name_of_the_output_has_less_than_4080_bytes),
		unit_test_of_plugin(the_recorder_is_told_the_end_of_its_task_alone),
		unit_test_of_plugin(no_descriptor_stays_open),
		unit_test_of_plugin(the_recorder_is_an_ordinary_process_of_the_user),
		unit_test_of_plugin(a_recorder_that_cannot_become_the_user_does_not_start),
		unit_test_of_plugin(the_recorder_leaves_the_group_of_the_step),
		unit_test_of_plugin(a_folder_that_is_absent_is_replaced_by_the_root),
		unit_test_of_plugin(only_a_signal_begins_the_wait_anew),
		unit_test_of_plugin(recorders_that_hang_are_waited_for_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
