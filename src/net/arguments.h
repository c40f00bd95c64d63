/*
 * The options of this program's subcommands. There are few, because people type the options of the front program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum argument_set {
	ARGUMENT_SPOOL = 1,     /* --spool DIR */
	ARGUMENT_FOLLOW = 2,    /* --from BYTES --end-fd FD --pid PID --disposable --report */
	ARGUMENT_DEADLINE = 4,  /* --upload-deadline SECS */
	ARGUMENT_ROOT = 8,      /* --root DIR */
	ARGUMENT_JSON = 16,     /* --json (which is the only output anyway) */
	ARGUMENT_DISCOVER = 64, /* --python --lines --when-told */
	ARGUMENT_KEEPER = 32, /* --vcpus --memory-mib --gpus --gpu-memory-mib --limit --filter --vendor ... */
};

enum { MOST_OPERANDS = 256, MOST_FILTERS = 16 };

struct arguments {
	const char *operands[MOST_OPERANDS];
	int operand_count;
	const char *spool; /* NULL: the default folder */
	int64_t from;
	int end_fd; /* -1: none */
	pid_t pid;  /* 0: none */
	bool disposable;
	bool report; /* the line "sent" on stderr when nothing is left */
	int64_t deadline_ns;
	const char *root;
	bool python;
	bool lines;
	bool when_told;
	int64_t vcpus; /* 0: not given, like the next four */
	double memory_mib;
	int64_t gpus;
	double gpu_memory_mib;
	int64_t limit;
	const char *vendor;
	const char *instance_type;
	const char *region;
	const char *filters[MOST_FILTERS]; /* "KEY=VALUE" */
	int filter_count;
};

/* argv[0] is the subcommand. 0, or -EINVAL after a line that says what is wrong. */
int arguments_parse(struct arguments *ret_arguments, int argc, char **argv, unsigned int allowed);

/* Prints the usage line, and how to wrap a program of the subcommand's name if there is one; returns 2. */
int arguments_usage(const char *usage);
