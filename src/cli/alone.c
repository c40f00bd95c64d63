/* See alone.h. */
#include "cli/alone.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "cli/message.h"
#include "wrap/wrap.h"

static const char VARIABLE[] = "RESOURCE_TRACKER_ALONE";
static const int CRASHES[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS};
enum { HANDLER_STACK_BYTES = 16384 };

static char **the_command; /* NULL: no step, or its job has started */
static pid_t own_pid;      /* children inherit the handlers */
static bool is_step;

/* By system calls alone: the memory may be damaged. */
static void become_command(void)
{
	char **command = the_command;

	the_command = NULL;
	wrap_undo();
	execv(*command, command);
}

static void run_after_crash(int signo)
{
	static const char LINE[] = "resource-tracker: this step is not recorded: the recorder crashed\n";

	(void)signo;
	if (!the_command || getpid() != own_pid)
		return; /* and crash again, without a handler */
	(void)!write(STDERR_FILENO, LINE, sizeof LINE - 1);
	become_command();
	_exit(EXIT_NOT_EXECUTABLE);
}

static void catch_crashes(void)
{
	static unsigned char memory[HANDLER_STACK_BYTES];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	struct sigaction ours = {.sa_handler = run_after_crash,
				 .sa_flags = SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND},
			 before;

	if (sigaltstack(&stack, NULL) < 0)
		return;
	/* An ignored signal stays ignored in the job. */
	for (size_t i = 0; i < ARRAY_SIZE(CRASHES); i++)
		if (sigaction(CRASHES[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(CRASHES[i], &ours, NULL);
}

void alone_prepare(int argc, char **argv)
{
	const char *value = secure_getenv(VARIABLE);
	struct scan text = scan_bytes(value ? value : "", value ? strlen(value) : 0);
	uint64_t first;

	if (!value || unsetenv(VARIABLE) < 0 || !scan_u64(&text, &first) || scan_left(&text) || !first ||
	    first >= (uint64_t)argc)
		return;
	the_command = argv + first;
	own_pid = getpid();
	is_step = true;
	refuse_step();
	catch_crashes();
}

bool alone_is_step(void)
{
	return is_step;
}

void alone_forget(void)
{
	struct sigaction before;

	if (!the_command)
		return;
	the_command = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(CRASHES); i++)
		if (sigaction(CRASHES[i], NULL, &before) == 0 && before.sa_handler == run_after_crash) {
			before.sa_handler = SIG_DFL;
			sigaction(CRASHES[i], &before, NULL);
		}
}

int alone_run(int status)
{
	char **command = the_command;

	if (!command)
		return status;
	become_command();
	say("%s: %s", *command, strerror(errno));
	return EXIT_NOT_EXECUTABLE;
}

int alone_for_lack(char **command, const char *lack)
{
	/* The command of a step is not the real shell's whole command line: alone_run() knows that. */
	if (!command || is_step)
		return refuse("%s", lack);
	say("this job is not recorded: %s", lack);
	wrap_undo();
	execvp(*command, command);
	say("%s: %s", *command, errno == ENOENT ? "command not found" : strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
