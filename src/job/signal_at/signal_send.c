/* Sends a signal to the job. See signal_send.h. */
#include "job/signal_at/signal_send.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job/programs/programs.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* The kernel's name of a program has at most 15 characters. */
enum { COMM_LENGTH = 15 };

static bool runs_program(const struct process_tree *tree, const struct member *member,
			 const struct proc_pid_stat *stat, const char *name)
{
	const struct program *program = tree->programs ? programs_of(tree->programs, member->pid) : NULL;

	return strncmp(stat->comm, name, COMM_LENGTH) == 0 || (program && strcmp(program->name, name) == 0);
}

static bool would_die(const struct proc_pid_stat *stat, int number)
{
	int64_t survived = stat->blocked_signals | stat->ignored_signals | stat->handled_signals;

	return (number == SIGUSR1 || number == SIGUSR2) && !(survived >> (number - 1) & 1);
}

/* The descriptor holds the process, so that no other one gets its number meanwhile. Older kernels have none. */
static const char *send_to_member(const struct process_tree *tree, const struct member *member,
				  const struct signal_rule *rule, bool by_name)
{
	int fd = (int)syscall(SYS_pidfd_open, member->pid, 0);
	const char *why = "";
	struct proc_pid_stat stat;

	if (read_proc_pid_stat(tree->root, member->pid, &stat) == 0 &&
	    stat.start_ticks == member->start_ticks && !proc_pid_stat_is_exiting(&stat) &&
	    (!by_name || runs_program(tree, member, &stat, rule->text + rule->program))) {
		why = NULL;
		if (would_die(&stat, rule->signal))
			why = "it has no handler for that signal, and would die of it";
		else if ((fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, rule->signal, NULL, 0)
				  : kill(member->pid, rule->signal)) < 0)
			why = strerror(errno);
	}
	if (fd >= 0)
		(void)close(fd);
	return why;
}

/* A job whose first process is timeout(1) begins with the child of that. */
static bool is_first(const struct process_tree *tree, const struct member *member, bool has_timeout)
{
	return has_timeout ? member->parent_pid == tree->root_pid : member->pid == tree->root_pid;
}

int64_t signal_send(const struct process_tree *tree, const struct signal_rule *rule, const char **ret_why)
{
	bool by_name = rule->text[rule->program], has_timeout;
	const char *why_not = NULL;
	struct proc_pid_stat stat;
	int64_t sent = 0;

	has_timeout = read_proc_pid_stat(tree->root, tree->root_pid, &stat) == 0 &&
		      strcmp(stat.comm, "timeout") == 0;
	for (size_t i = 0; i < tree->count && tree->root->live; i++) {
		const struct member *member = &tree->members[i];
		const char *why;

		if (!by_name && !is_first(tree, member, has_timeout))
			continue;
		why = send_to_member(tree, member, rule, by_name);
		sent += !why;
		if (why && *why)
			why_not = why;
	}
	if (sent || why_not)
		*ret_why = why_not;
	return sent;
}
