/* Events and exit records become the history of the job's processes. See heard_events.h. */
#include "job/programs/heard_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"

static struct known_process *find_known(const struct heard_events *heard, pid_t pid)
{
	return known_processes_find(&heard->known, pid);
}

SELDOM void heard_events_forget(struct heard_events *heard)
{
	known_processes_clear(&heard->known);
	heard->heard_count = 0;
	heard->lost = heard->lost_ever = heard->misses_ends = true;
}

bool heard_events_tell_end(const struct heard_events *heard, pid_t pid)
{
	for (size_t i = 0; i < heard->event_count; i++)
		if (heard->events[i].kind == PROGRAM_EXITED && heard->events[i].pid == pid)
			return true;
	return false;
}

void heard_events_add(struct heard_events *heard, pid_t pid, const char *program, const char *parent,
		      int64_t since_ns)
{
	const struct known_process process = {.pid = pid,
					      .program = program,
					      .parent = parent,
					      .since_ns = since_ns,
					      .record_ns = -1,
					      .clock_ns = -1,
					      .threads = heard->without_threads ? 0 : 1};

	if (known_processes_add(&heard->known, &process) < 0)
		heard_events_forget(heard);
}

static void queue_event(struct heard_events *heard, const struct program_event *event)
{
	if (heard->event_count == heard->event_capacity) {
		size_t capacity = heard->event_capacity ? heard->event_capacity * 2 : 64;
		struct program_event *events =
			capacity > EVENTS_MOST ? NULL : realloc(heard->events, capacity * sizeof *events);

		if (!events) {
			heard->lost = heard->lost_ever = heard->misses_ends = true;
			return;
		}
		heard->events = events;
		heard->event_capacity = capacity;
	}
	heard->events[heard->event_count++] = *event;
}

/* By now the new program may have run for a while, with one thread as it has just started. */
static int64_t clock_at(const struct proc_event *event, int64_t clock_ns)
{
	int64_t since_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - event->monotonic_ns;

	return clock_ns < 0 ? -1 : max_i64(0, clock_ns - max_i64(0, since_ns));
}

bool heard_events_wants_look(const struct known_process *process)
{
	return process->pid && !process->exit_take;
}

void heard_events_look(struct known_process *process, int64_t clock_ns, int64_t now_ns)
{
	/* A clock that has not moved says that the process used nothing since the last look. */
	if (clock_ns < process->seen_ns)
		return;
	process->seen_ns = clock_ns;
	process->seen_at_ns = now_ns;
}

SELDOM void heard_events_begin(struct heard_events *heard, pid_t pid, int64_t clock_ns, int64_t now_ns)
{
	struct known_process *process = find_known(heard, pid);

	if (!process)
		return;
	heard_events_look(process, clock_ns, now_ns);
	process->before_ns = process->seen_ns;
}

static void note_exec(struct heard_events *heard, struct known_process *process,
		      const struct proc_event *event, int64_t clock_ns)
{
	const struct program_event told = {
		.kind = PROGRAM_EXECED,
		.pid = process->pid,
		.before = process->program,
		.parent = process->parent,
		.clock_ns = clock_at(event, clock_ns),
		.at_ns = event->monotonic_ns,
		.is_first = process->is_fork,
	};

	heard_events_look(process, told.clock_ns, event->monotonic_ns);
	if (!process->is_fork) {
		process->since_ns = event->monotonic_ns;
		process->before_ns = process->seen_ns;
	}
	process->is_fork = false;
	process->program = NULL;
	process->threads = heard->without_threads ? 0 : 1;
	process->first_ended = false;
	if (heard->exec_count < EXECS_MOST)
		heard->execs[heard->exec_count++] = heard->event_count;
	queue_event(heard, &told);
}

/* After the whole batch: processes that have ended by then cost nothing. */
void heard_events_name(struct heard_events *heard, size_t most)
{
	for (size_t i = 0; i < heard->exec_count && most > 0; i++) {
		struct known_process *process;

		if (heard->execs[i] >= heard->event_count)
			continue;
		process = find_known(heard, heard->events[heard->execs[i]].pid);
		if (!process || process->exit_take)
			continue;
		if (!process->program) {
			process->program = program_names_read(&heard->names, process->pid);
			most--;
		}
		heard->events[heard->execs[i]].after = process->program;
	}
	heard->exec_count = heard->ends_read = 0;
}

/* `end_ns`: 0 if it is unknown. */
static void tell_exit(struct heard_events *heard, struct known_process *process, int64_t end_ns)
{
	struct program_event told = {
		.kind = PROGRAM_EXITED,
		.pid = process->pid,
		.before = process->program,
		.parent = process->parent,
		.clock_ns = max_i64(process->clock_ns, process->record_ns),
		.life_ns = max_i64(0, end_ns - process->since_ns),
		.before_ns = process->before_ns,
		.unseen_ns = max_i64(0, end_ns - max_i64(process->since_ns, process->seen_at_ns)),
		.seen_ns = process->seen_ns,
		.had_children = process->has_children,
		.at_ns = process->ended_ns,
		.parent_pid = process->parent_pid,
		.reaper_pid = process->reaper_pid,
		.wait_status = process->wait_status,
		.is_fork = process->is_fork,
		.forked_ns = process->forked_ns,
		.last_fork_ns = process->last_fork_ns,
		.unrecorded_ns =
			process->clock_ns >= max_i64(0, process->record_ns) ? 0 : process->unrecorded_ns,
		.has_io = process->record_ns >= 0,
	};

	memcpy(told.io, process->record_io, sizeof told.io);
	heard->exits++;
	heard->heard_count -= process->exit_take > 0;
	known_processes_remove(&heard->known, process);
	queue_event(heard, &told);
}

static void note_exit(struct heard_events *heard, struct known_process *process,
		      const struct proc_event *event, int64_t clock_ns)
{
	process->clock_ns = clock_ns;
	process->ended_ns = event->monotonic_ns;
	process->reaper_pid = event->parent_pid;
	/* One that has just been told may still be a zombie. A failure is worth the look even late. */
	if (!process->program && (process->wait_status ? heard->ends_read++ < ENDS_READ_MOST
						       : heard->is_prompt && !heard->with_records))
		process->program = program_names_read(&heard->names, process->pid);
	if (heard->with_records) {
		process->exit_take = heard->takes + 1;
		heard->heard_count++;
		return;
	}
	if (!process->wait_status)
		heard->ended[heard->ended_at++ % ENDED_KEPT] = *process;
	tell_exit(heard, process, event->monotonic_ns);
}

void heard_events_tell_failure(struct heard_events *heard, const struct known_process *process)
{
	if (process->wait_status)
		queue_event(heard, &(struct program_event){.kind = PROGRAM_FAILED,
							   .pid = process->pid,
							   .before = process->program,
							   .parent = process->parent,
							   .clock_ns = -1,
							   .at_ns = process->ended_ns,
							   .parent_pid = process->parent_pid,
							   .reaper_pid = process->reaper_pid,
							   .wait_status = process->wait_status,
							   .is_fork = process->is_fork,
							   .forked_ns = process->forked_ns,
							   .last_fork_ns = process->last_fork_ns});
}

static SELDOM struct known_process *find_ended(struct heard_events *heard, pid_t pid)
{
	for (size_t i = 0; i < ENDED_KEPT; i++)
		if (heard->ended[i].pid == pid)
			return &heard->ended[i];
	return NULL;
}

/* Its first thread has ended with 0, and this is one of those that lived on and ended the process. The event lacks the parent. */
static SELDOM void note_late_failure(struct heard_events *heard, const struct proc_event *event)
{
	struct known_process *ended = find_ended(heard, event->pid);

	if (!ended)
		return;
	ended->wait_status = event->wait_status;
	ended->ended_ns = event->monotonic_ns;
	heard_events_tell_failure(heard, ended);
	ended->pid = 0;
}

SELDOM void heard_events_take_back(struct heard_events *heard, pid_t pid)
{
	struct known_process *process = find_known(heard, pid), *ended = find_ended(heard, pid);

	heard->exits--;
	if (!process)
		return;
	if (ended) {
		ended->program = process->program;
		*process = *ended;
		ended->pid = 0;
	}
	process->first_ended = true;
	process->clock_ns = -1;
}

/* The first thread's status is that of the process, unless it has ended before the others. */
static void note_status(struct known_process *process, const struct proc_event *event)
{
	if (event->is_thread && !event->wait_status)
		return;
	process->wait_status = event->wait_status;
	process->ended_ns = event->monotonic_ns;
	process->reaper_pid = event->parent_pid;
}

/* The last thread of a process ends it. A thread that was forked before the first event is not counted. */
static bool ends_process(struct known_process *process, const struct proc_event *event)
{
	process->first_ended |= !event->is_thread;
	process->threads -= process->threads > 0;
	return process->first_ended && process->threads == 0;
}

SELDOM void heard_events_leave_threads_out(struct heard_events *heard)
{
	heard->without_threads = true;
	for (size_t i = 0; i < heard->known.slots; i++)
		heard->known.at[i].threads = 0;
}

/* Another process has its pid now. Its record has not come, or nothing told its end, which the next pass finds. */
static SELDOM void give_up(struct heard_events *heard, struct known_process *process)
{
	if (process->exit_take)
		tell_exit(heard, process, 0);
	else
		known_processes_remove(&heard->known, process);
}

/* A fork that gives itself a name is that program from now on, as are its own forks (stress-ng, PostgreSQL). */
static SELDOM void rename_program(struct heard_events *heard, struct known_process *process)
{
	const char *name = program_names_read(&heard->names, process->pid);

	if (name)
		process->program = name;
}

static void mark_as_fork(struct known_process *process, const struct proc_event *event)
{
	if (!process)
		return;
	process->is_fork = true;
	process->parent_pid = event->parent_pid;
	process->forked_ns = event->monotonic_ns;
}

void heard_events_take(struct heard_events *heard, const struct proc_event *event, int64_t clock_ns)
{
	struct known_process *process, *parent;
	const char *parent_program;

	switch (event->kind) {
	case PROC_EVENT_ACK:
		break;
	case PROC_EVENT_FORKED:
		process = find_known(heard, event->pid);
		if (process && !event->is_thread && event->monotonic_ns > process->since_ns) {
			give_up(heard, process);
			process = NULL;
		}
		if (process && event->is_thread)
			process->threads += process->threads > 0;
		parent = find_known(heard, event->parent_pid);
		if (!parent || event->is_thread)
			break;
		parent->has_children = heard->has_forks = true;
		parent->last_fork_ns = event->monotonic_ns;
		parent_program = parent->program ? parent->program : parent->parent;
		if (process && !process->parent)
			process->parent = parent_program;
		if (process && !process->program)
			process->program = parent->program;
		if (!process)
			heard_events_add(heard, event->pid, parent->program, parent_program,
					 event->monotonic_ns);
		mark_as_fork(find_known(heard, event->pid), event);
		break;
	case PROC_EVENT_EXECED:
		process = find_known(heard, event->pid);
		if (process)
			note_exec(heard, process, event, clock_ns);
		break;
	case PROC_EVENT_RENAMED:
		process = event->is_thread || !heard->is_prompt ? NULL : find_known(heard, event->pid);
		if (process && process->program && !process->exit_take)
			rename_program(heard, process);
		break;
	case PROC_EVENT_EXITED:
		process = find_known(heard, event->pid);
		if (!process && event->is_thread && event->wait_status)
			note_late_failure(heard, event);
		if (!process)
			break;
		note_status(process, event);
		if (ends_process(process, event))
			note_exit(heard, process, event, clock_ns);
		break;
	}
}

static void tell_recorded(void *heard, struct known_process *process)
{
	tell_exit(heard, process, 0);
}

int heard_events_settle(struct heard_events *heard, struct exit_records *records)
{
	int error = exit_records_settle(records, &heard->known, &heard->names, tell_recorded, heard);

	for (size_t i = 0; i < heard->known.slots && heard->heard_count; i++) {
		struct known_process *process = &heard->known.at[i];

		/* Another may move into its slot. */
		while (process->pid && process->exit_take && process->exit_take <= heard->takes &&
		       process->record_ns < 0)
			tell_exit(heard, process, 0);
	}
	return error;
}

RUNS_ONCE void heard_events_settle_rest(struct heard_events *heard, bool (*is_gone)(pid_t pid))
{
	for (size_t i = 0; i < heard->known.slots; i++)
		/* Another may move into its slot. */
		while (heard->known.at[i].pid &&
		       (heard->known.at[i].exit_take || is_gone(heard->known.at[i].pid)))
			tell_exit(heard, &heard->known.at[i], 0);
}
