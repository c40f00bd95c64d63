/*
 * slurmstepd with the plugin of src/slurm, for tests without Slurm:
 *
 *   slurmstepd UID GID [WORD OF plugstack.conf]... -- JOB...
 *
 * Runs one task as that user in this folder, with this environment, and tells what Slurm's own would tell. Returns its status.
 * As the real one, it takes signals while the plugin waits for its recorder: SIGALRM each 5 ms. TASKS=N calls the plugin N times.
 */
#include <signal.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"

enum { JOB = 7, OWN_ERROR = 99 };

int slurm_spank_init(spank_t spank, int argc, char **argv);
int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv);
int slurm_spank_task_exit(spank_t spank, int argc, char **argv);
int slurm_spank_exit(spank_t spank, int argc, char **argv);

extern char **environ;

static struct {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	int status;
} task;

int spank_remote(spank_t spank)
{
	(void)spank;
	return 1;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	(void)option;
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	/* Slurm's is a log. Here it may be a terminal. */
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	fprintf(stderr, "%s\n", text);
}

static uint32_t number_of(spank_item_t item)
{
	return item == S_JOB_UID                ? task.uid
	       : item == S_JOB_GID              ? task.gid
	       : item == S_JOB_ID               ? JOB
	       : item == S_TASK_EXIT_STATUS     ? (uint32_t)task.status
	       : item == S_TASK_PID             ? (uint32_t)task.pid
	       : item == S_JOB_TOTAL_TASK_COUNT ? 1
						: 0;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list results;

	(void)spank;
	va_start(results, item);
	if (item == S_JOB_ENV) {
		*va_arg(results, char ***) = environ;
	} else if (item == S_JOB_SUPPLEMENTARY_GIDS) {
		*va_arg(results, gid_t **) = &task.gid;
		*va_arg(results, int *) = 1;
	} else if (item == S_JOB_NCPUS) {
		*va_arg(results, uint16_t *) = 3;
	} else {
		/* All others have 32 bits. */
		*va_arg(results, uint32_t *) = number_of(item);
	}
	va_end(results);
	return ESPANK_SUCCESS;
}

static pid_t fork_task(char **job, int *ret_gate)
{
	int gate[2];
	pid_t pid;
	char byte;

	if (pipe(gate) < 0 || (pid = fork()) < 0)
		exit(OWN_ERROR);
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0 || setgid(task.gid) < 0 || setuid(task.uid) < 0)
			_exit(OWN_ERROR);
		close(gate[0]);
		execvp(*job, job);
		_exit(OWN_ERROR);
	}
	close(gate[0]);
	*ret_gate = gate[1];
	return pid;
}

static uint32_t number_in(const char *text)
{
	struct scan scan = scan_bytes(text, strlen(text));
	uint64_t number;

	if (!scan_u64(&scan, &number) || scan_left(&scan))
		exit(OWN_ERROR);
	return (uint32_t)number;
}

static void take_alarm(int signo)
{
	(void)signo;
}

static void call_post_fork(void)
{
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = take_alarm};
	const char *tasks = getenv("TASKS");

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint32_t left = tasks ? number_in(tasks) : 1; left; left--)
		slurm_spank_task_post_fork(NULL, 0, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
	int words = 3, gate;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	if (words + 1 >= argc)
		return OWN_ERROR;
	task.uid = number_in(argv[1]);
	task.gid = number_in(argv[2]);
	if (slurm_spank_init(NULL, words - 3, argv + 3) != 0)
		return OWN_ERROR;
	task.pid = fork_task(argv + words + 1, &gate);
	call_post_fork();
	close(gate);
	if (waitpid(task.pid, &task.status, 0) < 0)
		return OWN_ERROR;
	slurm_spank_task_exit(NULL, 0, NULL);
	slurm_spank_exit(NULL, 0, NULL);
	return WIFEXITED(task.status) ? WEXITSTATUS(task.status) : 128 + WTERMSIG(task.status);
}
