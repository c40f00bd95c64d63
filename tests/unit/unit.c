/*
 * The unit tests of one room, all files in one program, because linking each file with the library took longer than to compile it:
 * unit-ROOM [NAME...] runs test_NAME.c, or all.
 */
#include "unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct unit_file *files;

void unit_add(struct unit_file *file)
{
	file->next = files;
	files = file;
}

static bool has_name(const struct unit_file *file, const char *name)
{
	const char *slash = strrchr(file->path, '/'), *base = slash ? slash + 1 : file->path;
	size_t length = strlen(name);

	return strncmp(base, "test_", 5) == 0 && strncmp(base + 5, name, length) == 0 &&
	       strcmp(base + 5 + length, ".c") == 0;
}

static int run_named(const char *name)
{
	for (struct unit_file *file = files; file; file = file->next)
		if (has_name(file, name))
			return file->run();
	fprintf(stderr, "test_%s.c is not in this program\n", name);
	return 1;
}

/* The kernel's struct sigaction is shorter on each architecture. */
static const char default_action[64];

int main(int argc, char **argv)
{
	int failed = 0;

	/* nohup(1) ignores the first, a script in the background the others; make(1) those that libc keeps for itself, and lets no program change. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	for (int number = 32; number < SIGRTMIN; number++)
		syscall(SYS_rt_sigaction, number, default_action, NULL, 8);
	for (int i = 1; i < argc; i++)
		failed |= run_named(argv[i]);
	for (struct unit_file *file = files; argc == 1 && file; file = file->next)
		failed |= file->run();
	return failed != 0;
}
