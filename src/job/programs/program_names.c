/* The names of programs. See program_names.h. */
#include "job/programs/program_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/programs/program_name.h"
#include "kernel/proc_pid_stat.h"

enum { CMDLINE_BYTES = 512, COMM_BYTES = 15 };

const char *program_names_keep(struct program_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i], name) == 0)
			return names->at[i];
	if (names->count == PROGRAM_NAMES_MOST)
		return NULL;
	names->at[names->count] = strdup(name);
	return names->at[names->count] ? names->at[names->count++] : NULL;
}

static ssize_t read_file(pid_t pid, const char *file, char *ret_bytes, size_t size)
{
	char path[48];
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, ret_bytes, size);
	close(fd);
	return length > 0 ? length : 0;
}

const char *program_names_read(struct program_names *names, pid_t pid)
{
	char bytes[CMDLINE_BYTES], name[PROGRAM_NAME_BYTES];
	struct proc_pid_stat stat;
	ssize_t length = read_file(pid, "cmdline", bytes, sizeof bytes);

	if (length > 0 && *bytes) {
		program_name(bytes, (size_t)length, "", name);
		return program_names_keep(names, name);
	}
	/* A zombie has no arguments any more, and the first one may be empty. The kernel's name is there. */
	length = read_file(pid, "stat", bytes, sizeof bytes);
	if (parse_proc_pid_stat(bytes, (size_t)length, &stat) < 0)
		return NULL;
	return program_names_keep(names, stat.comm);
}

/* The kernel keeps the first 15 bytes of a name. */
static bool begins_with_name(const char *text, const char *comm)
{
	size_t length = strlen(comm);

	return strncmp(text, comm, length) == 0 &&
	       (length == COMM_BYTES || text[length] == ' ' || !text[length]);
}

bool program_names_match(const char *program, const char *comm)
{
	const char *blank = strchr(program, ' ');

	/* "python3 train.py" may be called python3 or, if it begins with #!, train.py. */
	return begins_with_name(program, comm) || (blank && begins_with_name(blank + 1, comm));
}

const char *program_names_of(struct program_names *names, const char *comm)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *blank = strchr(names->at[i], ' ');

		/* A bare interpreter may have run any script, but a name of 15 bytes was cut. */
		if (program_names_match(blank ? blank + 1 : names->at[i], comm) ||
		    (strlen(comm) == COMM_BYTES && strncmp(names->at[i], comm, COMM_BYTES) == 0))
			return names->at[i];
	}
	return program_names_keep(names, comm);
}

void program_names_done(struct program_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->at[i]);
	names->count = 0;
}
