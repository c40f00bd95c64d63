/*
 * The options of this program's subcommands. There are few, because people type the options of the front program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_OPERANDS = 256, MOST_FILTERS = 16 };

struct arguments {
	const char *operands[MOST_OPERANDS];
	int operand_count;
	const char *spool; /* NULL: the default folder */
	int64_t from;
	int end_fd; /* -1: none */
	pid_t pid;  /* 0: none */
	bool disposable;
	const char *stream; /* the name of the destination. NULL: the default */
	bool report;        /* the line "sent" on stderr when nothing is left */
	int64_t deadline_ns;
	const char *root;
	bool python;
	bool lines;
	bool when_told;
	bool json; /* of discover */
	const char *colour;
	bool without_pager;
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

/* Reads the words behind the subcommand argv[0] by its table. Returns 0, or -EINVAL after it has said what is wrong. */
int arguments_parse(struct arguments *ret_arguments, char **argv);

/*
 * Says what is wrong with the words of a subcommand, with a pointer to its help, or with its usage where it has none because
 * only our own programs call it. Returns EXIT_USAGE.
 */
int arguments_refuse(const char *name, const char *message);

/* Prints the help of argv[0] if that is asked for, and if people may type it, else returns false. */
bool arguments_print_help(char **argv, int *ret_status);
