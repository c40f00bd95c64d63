/*
 * execvp() for a forked child.
 *
 * The C libraries differ: musl's execvp() does not run scripts without #!. And a process with threads must call
 * neither version between fork and exec. So everything that needs memory is prepared before the fork.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wrap/exec_search.h"

#define SHELL "/bin/sh"
#define DEFAULT_PATH "/bin:/usr/bin"

extern char **environ;

static size_t count_strings(char *const *strings)
{
	size_t count = 0;

	while (strings && strings[count])
		count++;
	return count;
}

static bool is_same_name(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return strncmp(a, b, length) == 0 && b[length] == '=' && a[length] == '=';
}

static char **merge_environment(const char *const *additions)
{
	size_t own = count_strings(environ), added = count_strings((char *const *)additions), count = own;
	char **merged = malloc((own + added + 1) * sizeof *merged);

	if (!merged)
		return NULL;
	for (size_t i = 0; i < own; i++)
		merged[i] = environ[i];
	for (size_t i = 0; i < added; i++) {
		size_t at = 0;

		while (at < count && !is_same_name(additions[i], merged[at]))
			at++;
		merged[at] = (char *)additions[i];
		count += at == count;
	}
	merged[count] = NULL;
	return merged;
}

/* Lists the files that PATH allows for `name`, in one block of memory. */
static int list_paths(const char *name, struct exec_plan *plan)
{
	const char *path = getenv("PATH"), *at, *end;
	size_t name_size = strlen(name) + 1, folders = 1;
	char *text;

	if (!path)
		path = DEFAULT_PATH;
	plan->is_search = *name && !strchr(name, '/');
	if (!plan->is_search)
		path = "";
	for (at = path; *at; at++)
		folders += *at == ':';
	plan->paths = malloc(folders * sizeof *plan->paths);
	plan->memory = text = malloc(strlen(path) + folders * (name_size + 1) + 1);
	if (!plan->paths || !text)
		return -ENOMEM;
	for (at = path;; at = end + 1) {
		size_t length;

		end = at + strcspn(at, ":");
		length = (size_t)(end - at);
		plan->paths[plan->path_count++] = text;
		memcpy(text, at, length);
		text += length;
		if (length)
			*text++ = '/';
		memcpy(text, name, name_size);
		text += name_size;
		if (!*end)
			return 0;
	}
}

int exec_plan_make(char *const *argv, const char *const *additions, struct exec_plan *ret_plan)
{
	struct exec_plan plan = {0};
	size_t count = count_strings(argv);

	if (!count)
		return -EINVAL;
	plan.argv = malloc((count + 1) * sizeof *plan.argv);
	plan.script_argv = malloc((count + 2) * sizeof *plan.script_argv);
	plan.environment = merge_environment(additions);
	if (!plan.argv || !plan.script_argv || !plan.environment || list_paths(argv[0], &plan) < 0) {
		exec_plan_free(&plan);
		return -ENOMEM;
	}
	memcpy(plan.argv, argv, (count + 1) * sizeof *argv);
	plan.script_argv[0] = (char *)SHELL;
	memcpy(plan.script_argv + 1, argv, (count + 1) * sizeof *argv);
	*ret_plan = plan;
	return 0;
}

void exec_plan_free(struct exec_plan *plan)
{
	free(plan->paths);
	free(plan->argv);
	free(plan->script_argv);
	free(plan->environment);
	free(plan->memory);
	*plan = (struct exec_plan){0};
}

/* Errors after which execvp() tries the next folder. */
static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ESTALE || error == ENODEV ||
	       error == ETIMEDOUT;
}

int exec_plan_run(const struct exec_plan *plan)
{
	bool denied = false;

	if (!*plan->argv[0])
		return ENOENT;
	for (size_t i = 0; i < plan->path_count; i++) {
		execve(plan->paths[i], plan->argv, plan->environment);
		if (errno == ENOEXEC) {
			plan->script_argv[1] = plan->paths[i];
			execve(SHELL, plan->script_argv, plan->environment);
			return ENOEXEC;
		}
		if (errno == EACCES)
			denied = true;
		else if (!is_absence(errno))
			return errno;
	}
	return denied ? EACCES : plan->is_search ? ENOENT : errno;
}
