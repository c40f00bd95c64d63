/*
 * The processes of the job as the process events and exit records of the kernel tell them: a table of the living ones, and a
 * queue of what has happened since the last call of program_listener_take(). The caller has a lock.
 *
 * Where there are exit records, an exit is told when its record comes. The exit event only adds the process's clock, if it was
 * read in time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/programs/exit_records.h"
#include "job/programs/known_processes.h"
#include "job/programs/program_event.h"
#include "job/programs/program_names.h"
#include "job/programs/program_tuning.h"
#include "kernel/proc_events.h"

struct heard_events {
	struct known_processes known;
	struct program_names names;
	struct program_event *events;
	size_t event_count, event_capacity;
	size_t execs[EXECS_MOST]; /* events of this batch whose programs are not read yet */
	size_t exec_count;
	struct known_process ended[ENDED_KEPT]; /* with 0, without records: threads may live on */
	size_t ended_at;
	size_t ends_read;   /* names of failed processes in this batch */
	size_t takes;       /* calls of program_listener_take() */
	size_t heard_count; /* exit events that wait for their records */
	int64_t exits;
	bool has_forks;       /* the job has forked a process */
	bool with_records;    /* each exit has a record */
	bool without_threads; /* the kernel was asked to tell only of processes */
	bool is_prompt; /* events are read at once: a process that was just told to have ended may be a zombie yet */
	bool misses_ends; /* the status of some process of the job is unknown */
	bool lost;
	bool lost_ever;
};

void heard_events_add(struct heard_events *heard, pid_t pid, const char *program, const char *parent,
		      int64_t since_ns);
/* The time of a process that ran before it was added is not that of its life since then. */
void heard_events_begin(struct heard_events *heard, pid_t pid, int64_t clock_ns, int64_t now_ns);
void heard_events_forget(struct heard_events *heard);
/* Whether the queue has the end of a process: a pass that read it before may not know. */
bool heard_events_tell_end(const struct heard_events *heard, pid_t pid);

/*
 * The clock of a living process. If its exit event comes too late for another reading, only the time since then is unknown.
 * Returns whether it is worth the look.
 */
bool heard_events_wants_look(const struct known_process *process);
void heard_events_look(struct known_process *process, int64_t clock_ns, int64_t now_ns);

/* `clock_ns`: of the process of an exec or exit, -1: unknown. */
void heard_events_take(struct heard_events *heard, const struct proc_event *event, int64_t clock_ns);

/*
 * From now on, the events of threads are left out. A process whose first thread has ended before the others then ends with its last
 * record, or without records when a pass misses it.
 */
void heard_events_leave_threads_out(struct heard_events *heard);

/* A process whose end was told, and which was added again, has only lost its first thread. Its end counts when it is removed. */
void heard_events_take_back(struct heard_events *heard, pid_t pid);

/* A process has ended without an event of its own. A thread may have told its status. */
void heard_events_tell_failure(struct heard_events *heard, const struct known_process *process);

/* After a batch: reads the names of at most so many processes that have called exec and still live. */
void heard_events_name(struct heard_events *heard, size_t most);

/*
 * Tells the exits that have a record, and those just before there were records: a record comes before the event, so events of
 * before the last call of program_listener_take() have none. Returns 0 or a negative errno: some are lost.
 */
int heard_events_settle(struct heard_events *heard, struct exit_records *records);

/*
 * At the end, tells all exits that are left. The kernel sends the event of an exit after its parent can wait for it, so it may be
 * too late for the last take.
 */
void heard_events_settle_rest(struct heard_events *heard, bool (*is_gone)(pid_t pid));
