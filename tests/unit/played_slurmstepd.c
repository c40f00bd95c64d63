/* See played_slurmstepd.h. */
#include "played_slurmstepd.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct spank_option offered;
spank_err_t offer_result;
int is_remote, missing, asked, errors, group_count;
char last_error[1000];
uint32_t step, exit_status, task_pid, user;
char *environment[VARIABLES + 1];
gid_t groups[GROUPS];
const char *job_folder;

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
	return item == S_JOB_UID || item == S_JOB_GID ? user
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

struct timespec now;

struct polls polls;

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

	assert_int_equal(count, 1);
	if (polls.times < 4)
		polls.wanted_ms[polls.times] = timeout_ms;
	polls.times++;
	if (polls.error) {
		errno = polls.error;
		now = polls.then;
		polls.error = 0;
		return -1;
	}
	/* Even if the recorder is ready by then. */
	if (polls.is_late)
		timeout.tv_sec = 5;
	return (int)syscall(SYS_ppoll, fds, count, &timeout, NULL, 0) * !polls.is_late;
}

int refused_dup2;

int dup2(int from, int to)
{
	if (refused_dup2 && --refused_dup2 == 0)
		return -1;
	return from == to ? to : (int)syscall(SYS_dup3, from, to, 0);
}

/* The plugin has this one alone. */
int clock_gettime(clockid_t id, struct timespec *ret_now)
{
	(void)id;
	*ret_now = now;
	return 0;
}

struct rusage children;

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

void init_plugin(const char *word)
{
	char *words[] = {(char *)(uintptr_t)word};

	assert_int_equal(slurm_spank_init(NULL, 1, words), 0);
}

void put_environment(const char *folder_variable)
{
	static char folder[PATH_MAX],
		job[] = "SLURM_JOB_ID=1", rank[] = "SLURM_PROCID=1", local[] = "SLURM_LOCALID=1",
		node[] = "SLURM_NODEID=1", cpus[] = "SLURM_CPUS_ON_NODE=1", of[] = "SLURM_STEP_ID=9",
		tasks[] = "SLURM_NTASKS=1", name[] = "SLURM_JOB_NAME=n", other[] = "OTHER=1",
		helper[] = "TRACKER_HELPER=/code", net[] = "TRACKER_NET=/code", tag[] = "TRACKER_TAG=a=b",
		home[] = "HOME=/h", path[] = "PATH=/usr/bin:/bin", not_home[] = "HOMES=1",
		library[] = "TRACKER_NVML_LIBRARY=/code", otel[] = "OTEL_A=o", sentinel[] = "SENTINEL_A=s",
		temporary[] = "TMPDIR=/t", state[] = "XDG_STATE_HOME=/x";
	char *const given[] = {folder,   job,     rank,   local,    node,      cpus, of,   tasks,
			       name,     other,   helper, net,      tag,       home, path, otel,
			       sentinel, library, state,  not_home, temporary, NULL};

	snprintf(folder, sizeof folder, "%s=%s", folder_variable, scratch_folder);
	memcpy(environment, given, sizeof given);
}

static int open_before;

int spank_begin(void **state)
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
	refused_dup2 = 0;
	user = OTHER_USER;
	now = (struct timespec){1, 999000000};
	step = 1;
	task_pid = PID;
	exit_status = 0x300;
	put_environment("PWD");
	offer_result = ESPANK_SUCCESS;
	job_folder = scratch_folder;
	open_before = open_descriptors();
	return chmod("spy", 0755) < 0 ? -1 : slurm_spank_init(NULL, 3, words);
}

int spank_end(void **state)
{
	slurm_spank_exit(NULL, 0, NULL);
	/* slurmstepd has all of its files still, and no other. */
	if (open_descriptors() != open_before)
		return -1;
	return scratch_leave(state);
}

int await_recorders(void)
{
	int status = -1;

	while (wait(&status) > 0 || errno == EINTR)
		continue;
	assert_int_equal(errno, ECHILD);
	return status;
}

int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

void fork_task(void)
{
	assert_int_equal(slurm_spank_task_post_fork(NULL, 0, NULL), 0);
}

void end_task(void)
{
	assert_int_equal(slurm_spank_task_exit(NULL, 0, NULL), 0);
}

bool record_task(void)
{
	fork_task();
	end_task();
	assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
	await_recorders();
	return unlink("words") == 0;
}

bool file_has_line(const char *path, const char *line)
{
	char *text = get_file(path, NULL), with_ends[2 * PATH_MAX];
	bool has;

	snprintf(with_ends, sizeof with_ends, "\n%s\n", line);
	has = strstr(text, with_ends) || strncmp(text, with_ends + 1, strlen(with_ends + 1)) == 0;
	free(text);
	return has;
}

bool has_variable(const char *name)
{
	char *text = get_file("env", NULL), *at;

	at = strstr(text, name);
	free(text);
	return at != NULL;
}

int in_child(void (*act)(int number), int number)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		act(number);
		_exit(errors);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	await_recorders();
	return WEXITSTATUS(status);
}

void replace_call(long number, unsigned argument, unsigned action)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof steps / sizeof *steps, steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(99);
}
