/*
 * The exit records (kernel/taskstats.h) that belong to the job. The kernel sends one for each thread of the machine that ends,
 * with the CPU time and the name of its process. They are read in batches. A child's record comes before its parent's, and the
 * parent may have lived between two batches. So the job's are found from the newest record back to the oldest.
 *
 * Example: make (known) forks sh, and sh forks cc1. Both end. The records are those of cc1 (child of sh) and sh (child of make). Backwards, sh
 * is found to be a child of make, and then cc1 to be one of sh. A record whose parent is still unknown waits for one more
 * batch, and is dropped then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/programs/known_processes.h"
#include "job/programs/program_names.h"
#include "kernel/taskstats.h"

/* The processes above an attached job. One of them gets the job's orphans: the record of such a process does not lead to the job. */
enum { JOB_ANCESTORS_MOST = 32 };
struct job_ancestors {
	pid_t pids[JOB_ANCESTORS_MOST];
	int count;
	pid_t root;       /* the job's first process, a child of the first of them */
	bool other_ended; /* so has another child of that one, since this was asked for */
};

struct exit_records {
	int fd; /* -1: not permitted */
	uint16_t family;
	int64_t tick_ns; /* of the kernel */
	struct taskstats *at;
	size_t count, capacity;
	size_t old; /* the first ones, which the last batch has left */
	struct job_ancestors ancestors;
	bool has_orphan; /* a process that is not known has ended as a child of one of them */
};

void ancestors_note_end(struct job_ancestors *ancestors, pid_t pid, pid_t parent);

/* Returns 0 or a negative errno. */
int exit_records_open(struct exit_records *records);
void exit_records_close(struct exit_records *records);

/* Reads what the kernel has sent so far. Returns 0 or a negative errno: some are lost. */
int exit_records_read(struct exit_records *records);

/* Adds a record of a thread to its process. */
void exit_record_add(struct known_process *process, const struct taskstats *record, int64_t tick_ns);

/*
 * Adds the CPU time and the bytes of the records to the known processes, adds those that are not known yet, and calls `ended`
 * with each that has ended.
 */
typedef void (*process_ended)(void *context, struct known_process *process);
int exit_records_settle(struct exit_records *records, struct known_processes *known,
			struct program_names *names, process_ended ended, void *context);
