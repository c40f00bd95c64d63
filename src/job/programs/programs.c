/* The use of the job by program. See programs.h. */
#include "job/programs/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/cpu/job_cpu.h"
#include "job/programs/end_descriptor.h"
#include "job/programs/program_likely.h"
#include "job/programs/program_share.h"
#include "job/tree/process_tree.h"
#include "kernel/proc_pid_stat.h"

enum { PATH_SIZE = 48, FIRST_PROGRAMS = 16 };

RUNS_ONCE int programs_new(bool listens, struct programs **ret_programs)
{
	struct programs *programs = calloc(1, sizeof *programs);

	if (!programs || !(programs->at = malloc(FIRST_PROGRAMS * sizeof *programs->at))) {
		free(programs);
		return -ENOMEM;
	}
	programs->capacity = FIRST_PROGRAMS;
	if (listens)
		(void)program_listener_open(&programs->listener);
	*ret_programs = programs;
	return 0;
}

RUNS_ONCE void programs_free(struct programs *programs)
{
	if (!programs)
		return;
	program_listener_close(programs->listener);
	for (size_t i = 0; i < programs->process_count; i++)
		if (programs->processes[i].end_fd >= 0)
			(void)close(programs->processes[i].end_fd);
	if (programs->seen_names)
		program_names_done(programs->seen_names);
	free(programs->seen_names);
	failures_done(&programs->failures);
	free(programs->at);
	free(programs->processes);
	free(programs);
}

/* ---- programs and processes ------------------------------------------------------------------------------------- */

/* Returns where a pid stands or would stand. */
static size_t process_place(const struct programs *programs, pid_t pid)
{
	size_t low = 0, high = programs->process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (programs->processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Passes ask for the members in their order, which is mostly that of their pids: the next one is looked at first. */
static struct program_process *find_process(struct programs *programs, pid_t pid)
{
	size_t place = programs->next_place;

	if (place >= programs->process_count || programs->processes[place].pid != pid)
		place = process_place(programs, pid);
	programs->next_place = place + 1;
	return place < programs->process_count && programs->processes[place].pid == pid
		       ? &programs->processes[place]
		       : NULL;
}

static struct program_process *add_program_process(struct programs *programs, pid_t pid)
{
	size_t place = process_place(programs, pid);
	struct program_process *processes = programs->processes;

	if (programs->process_count == programs->process_capacity) {
		size_t capacity = programs->process_capacity ? programs->process_capacity * 2 : 16;

		processes = realloc(processes, capacity * sizeof *processes);
		if (!processes)
			return NULL;
		programs->processes = processes;
		programs->process_capacity = capacity;
	}
	memmove(&processes[place + 1], &processes[place],
		(programs->process_count - place) * sizeof *processes);
	processes[place] = (struct program_process){.pid = pid, .end_fd = -1};
	programs->process_count++;
	return &processes[place];
}

static void remove_process(struct programs *programs, struct program_process *process)
{
	size_t place = (size_t)(process - programs->processes);

	programs->process_count--;
	memmove(process, process + 1, (programs->process_count - place) * sizeof *process);
}

const struct program *programs_of(struct programs *programs, pid_t pid)
{
	const struct program_process *process = find_process(programs, pid);

	return process ? &programs->at[process->program] : NULL;
}

/* ---- what the members say --------------------------------------------------------------------------------------- */

static size_t read_program(struct programs *programs, struct process_tree *tree, const struct member *member,
			   bool *ret_read)
{
	char path[PATH_SIZE], name[PROGRAM_NAME_BYTES];
	ssize_t length;

	snprintf(path, sizeof path, "%d/cmdline", (int)member->pid);
	length = root_read_at(tree->root, tree->root->proc_fd, path);
	/* In the middle of exec: read it again. */
	*ret_read = length > 0;
	program_name(tree->root->text.data, length > 0 ? (size_t)length : 0, member->program.comm, name);
	return programs_index(programs, name);
}

/* Where its code and stack may not be seen, the name must do. */
void programs_read_member(struct member *member, const struct proc_pid_stat *stat)
{
	uint64_t parts[] = {(uint64_t)stat->code_start, (uint64_t)stat->stack_start,
			    proc_pid_stat_is_fork(stat), 0, 0},
		 mixed = 0;

	memcpy(member->program.comm, stat->comm, sizeof member->program.comm - 1);
	/* Without its code and arguments it is still the program that it was. So is one whose main thread has ended. */
	if (member->program.identity && proc_pid_stat_is_exiting(stat))
		return;
	memcpy(&parts[3], member->program.comm, sizeof member->program.comm);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		mixed = mixed * 31 + parts[i];
	member->program.identity = mixed;
}

static void credit_time(struct program *program, int64_t ns)
{
	if (ns <= 0)
		return;
	program->credited_ns += ns;
	program->unpublished_ns += ns;
}

static int64_t io_of(const struct member *member, int usage)
{
	return member->cpu.account.own.of[USAGE_READ_BYTES + usage];
}

static void grow_process(struct programs *programs, struct program_process *process,
			 const struct member *member, int64_t now_ns)
{
	struct program *program = &programs->at[process->program];
	const struct account *account = &member->cpu.account;
	int64_t cpu_ns = account->own.of[USAGE_CPU_NS];
	bool reaped = account->waited.of[USAGE_MINOR_FAULTS] != process->waited_faults;

	process->grown_ns = max_i64(0, cpu_ns - process->cpu_ns);
	credit_time(program, process->grown_ns);
	program->grown_ns += process->grown_ns;
	process->cpu_ns = max_i64(cpu_ns, process->cpu_ns);
	program->parent_ns += (double)max_i64(0, account->waited.of[USAGE_CPU_NS] - process->waited_ns);
	for (int i = 0; i < PROGRAM_IO_COUNT; i++) {
		int64_t grown = max_i64(0, io_of(member, i) - process->io[i]);

		process->io[i] = io_of(member, i);
		if (process->has_final_io)
			continue;
		if (reaped) {
			program->io_reaped[i] += grown;
		} else {
			program->io_grown[i] += grown;
			process->own_io[i] += grown;
		}
	}
	process->has_reaped |= reaped;
	process->waited_ns = account->waited.of[USAGE_CPU_NS];
	process->waited_faults = account->waited.of[USAGE_MINOR_FAULTS];
	process->read_ns = now_ns;
	if (member->memory.resident_pages > 0)
		process->resident_pages = member->memory.resident_pages;
}

/* The program gets only figures that the account of the tree counts. */
static void begin_process(struct program_process *process, const struct member *member)
{
	process->start_ticks = member->start_ticks;
	process->cpu_ns = member->cpu.account.own_before.of[USAGE_CPU_NS];
	for (int i = 0; i < PROGRAM_IO_COUNT; i++)
		process->io[i] = member->cpu.account.own_before.of[USAGE_READ_BYTES + i];
	/* Children that it had waited for by then are none of a pass. */
	process->waited_ns = member->cpu.account.before.of[USAGE_CPU_NS] - process->cpu_ns;
	process->waited_faults = member->cpu.account.before.of[USAGE_MINOR_FAULTS] -
				 member->cpu.account.own_before.of[USAGE_MINOR_FAULTS];
}

/* The table of names is large, and most runs need none. */
static SELDOM const char *keep_seen_name(struct programs *programs, const char *name)
{
	if (!programs->seen_names)
		programs->seen_names = calloc(1, sizeof *programs->seen_names);
	return programs->seen_names ? program_names_keep(programs->seen_names, name) : NULL;
}

/* Where no events are heard. It ended after the last pass, which saw it alive. */
static SELDOM void keep_seen_end(struct programs *programs, struct process_tree *tree,
				 struct program_process *process)
{
	const struct failure failure = {
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.reaper_pid = process->reaper_pid,
		.wait_status = end_descriptor_status(process->end_fd),
		.program = keep_seen_name(programs, programs->at[process->program].name),
		.ended_ns = programs->last_ns,
		.cpu_ns = process->cpu_ns,
		.resident_kib = process->resident_pages * (tree->root->page_bytes >> 10),
		.sampled_ns = process->read_ns,
	};

	process->end_fd = -1;
	tree->fds_left++;
	if (process->pid == tree->root_pid) {
		programs->root = failure;
		programs->root.ended_ns = 0;
	}
	failures_add(&programs->failures, &failure);
}

/* A process that went without an event, or between two passes where there are none. */
static SELDOM void take_unseen_end(struct programs *programs, struct process_tree *tree,
				   struct program_process *process, int64_t now_ns)
{
	struct program *program = &programs->at[process->program];
	int64_t pass_ns = now_ns - programs->last_ns;

	if (process->end_fd >= 0)
		keep_seen_end(programs, tree, process);
	program->exited_count += !process->is_exited;
	programs->has_ended_io &= process->is_exited;
	if (process->is_final || process->start_ticks < 0)
		return;
	/* On average it ended in the middle of the pass, and it went on as before. */
	program->missed_ns += LIKELY_LEAST_NS + (double)min_i64(process->grown_ns, pass_ns) / 2;
}

/* The kernel tells the end of its first thread as that of the process. The end of the last one then comes without an event. */
static SELDOM void take_back_end(struct programs *programs, struct program_process *process)
{
	struct program *program = &programs->at[process->program];

	process->lives_on = true;
	process->is_final = process->is_exited = false;
	program->exited_count--;
	program_listener_add_again(programs->listener, process->pid, program->name);
}

/* It is a zombie now, and its last time was read. */
static SELDOM void end_late(struct programs *programs, struct program_process *process)
{
	process->lives_on = false;
	process->is_final = process->is_exited = true;
	programs->at[process->program].exited_count++;
	(void)program_listener_remove(programs->listener, process->pid);
}

static void look_at_member(struct programs *programs, struct process_tree *tree, const struct member *member,
			   int64_t now_ns)
{
	struct program_process *process = find_process(programs, member->pid);
	bool is_new = !process || (process->start_ticks >= 0 && process->start_ticks != member->start_ticks);

	/* Its exit event has its time, or had it. */
	if (!process && member->is_zombie && programs->exact)
		return;
	if (!process)
		process = add_program_process(programs, member->pid);
	if (!process)
		return;
	if (is_new) {
		/* Another process had its pid. */
		if (process->start_ticks)
			take_unseen_end(programs, tree, process, now_ns);
		*process = (struct program_process){
			.pid = member->pid, .end_fd = -1, .parent_pid = member->parent_pid};
		begin_process(process, member);
		if (!programs->listener && !programs->ends_untold && !member->is_zombie &&
		    tree->fds_left > END_DESCRIPTORS_LEAVE) {
			process->end_fd = end_descriptor_open(member->pid);
			tree->fds_left -= process->end_fd >= 0;
			programs->ends_untold = process->end_fd < 0 && process->end_fd != -ESRCH;
		}
	}
	process->start_ticks = member->start_ticks;
	process->reaper_pid = member->parent_pid;
	if (process->is_exited && member->state == 'Z' && !member->is_zombie && programs->listener)
		take_back_end(programs, process);
	/*
	 * Without an event, the time before an exec since the last pass counts for the new program. An exit that was told has named it,
	 * and the listener would take it for a living process again.
	 */
	if (is_new ||
	    (process->identity != member->program.identity && !member->is_zombie && !process->is_exited)) {
		bool has_arguments;

		process->program = read_program(programs, tree, member, &has_arguments);
		process->named_ns = now_ns;
		process->identity = has_arguments || member->is_zombie ? member->program.identity : 0;
		if (programs->listener)
			program_listener_add(programs->listener, member->pid,
					     programs->at[process->program].name);
	}
	process->seen_pass = programs->pass;
	/* A member may end, and an event tell it, after it was read. */
	if (!member->is_zombie && !process->is_exited)
		programs->at[process->program].process_count++;
	grow_process(programs, process, member, now_ns);
	if (process->lives_on && member->is_zombie && programs->listener)
		end_late(programs, process);
}

/* A process that ended before its first pass has lost its arguments, but has its name. Its exit event would tell both. */
static SELDOM struct program_process *begin_unseen(struct programs *programs, const struct member *member)
{
	struct program_process *process = add_program_process(programs, member->pid);
	char name[PROGRAM_NAME_BYTES];

	if (!process)
		return NULL;
	begin_process(process, member);
	program_name(NULL, 0, member->program.comm, name);
	process->program = programs_index(programs, name);
	process->identity = member->program.identity;
	process->seen_pass = programs->pass;
	return process;
}

void programs_note_reaped(struct programs *programs, const struct member *member)
{
	struct program_process *process = find_process(programs, member->pid);

	if (!process && !programs->exact)
		process = begin_unseen(programs, member);
	if (!process || process->start_ticks != member->start_ticks)
		return;
	credit_time(&programs->at[process->program],
		    member->cpu.account.own.of[USAGE_CPU_NS] - process->cpu_ns);
	programs->at[process->program].ended_ns +=
		(double)max_i64(1, member->cpu.account.own.of[USAGE_CPU_NS] - process->cpu_ns);
	programs->at[process->program].parent_ns +=
		(double)max_i64(0, member->cpu.account.waited.of[USAGE_CPU_NS] - process->waited_ns);
	process->cpu_ns = max_i64(process->cpu_ns, member->cpu.account.own.of[USAGE_CPU_NS]);
	process->is_final = true;
}

/* ---- what the events say ---------------------------------------------------------------------------------------- */

/* A process that ended before its name could be read is a short-lived child. */
static size_t program_of_event(struct programs *programs, const struct program_event *event,
			       const struct program_process *process, const char *name)
{
	char child[sizeof programs->at->name];

	if (name)
		return programs_index(programs, name);
	if (process && process->identity)
		return process->program;
	snprintf(child, sizeof child, "short-lived children of %s",
		 event->parent ? event->parent : "unknown");
	return programs_index(programs, event->parent ? child : "unknown");
}

static void take_exec(struct programs *programs, const struct program_event *event)
{
	struct program_process *process = find_process(programs, event->pid);
	size_t after;
	int64_t used_ns;

	if (!process) {
		/* All the time since its fork is that of the program which it has called. */
		if (event->clock_ns <= 0 || event->is_first)
			return;
		/* The fork of a process that no pass has seen yet. */
		process = add_program_process(programs, event->pid);
		if (!process)
			return;
		process->start_ticks = -1;
	}
	/* A pass may have read the new name, when the event came too late for that. */
	after = program_of_event(programs, event, process->named_ns > event->at_ns ? process : NULL,
				 event->after);
	used_ns = event->clock_ns - process->cpu_ns;
	if (used_ns > 0 && !event->is_first) {
		credit_time(&programs->at[event->before ? programs_index(programs, event->before) : after],
			    used_ns);
		process->cpu_ns = event->clock_ns;
	}
	process->program = after;
	process->seen_pass = programs->pass;
}

/* It ended after this pass of the tree has read it, which must not count it again. */
static SELDOM void note_ended_member(struct programs *programs, const struct member *member,
				     const struct program_event *event, size_t program)
{
	struct program_process *process = member ? add_program_process(programs, member->pid) : NULL;

	if (!process)
		return;
	begin_process(process, member);
	process->program = program;
	process->identity = member->program.identity;
	process->cpu_ns =
		max_i64(process->cpu_ns,
			event->clock_ns < 0 ? member->cpu.account.own.of[USAGE_CPU_NS] : event->clock_ns);
	process->is_final = process->is_exited = true;
	process->has_final_io = event->has_io;
	process->seen_pass = programs->pass;
}

/* The bytes of a process that has waited for children are left to the rest: a part of them may have been shared already. */
static void take_io(struct program *program, const struct program_event *event,
		    const struct program_process *process)
{
	for (int i = 0; event->has_io && !(process && process->has_reaped) && i < PROGRAM_IO_COUNT; i++) {
		bool is_rounded = i >= USAGE_READ_CHARS - USAGE_READ_BYTES && event->io[i];
		int64_t bytes = event->io[i] + (is_rounded ? ROUNDED_DOWN_BYTES : 0);

		program->io_grown[i] += max_i64(0, bytes - (process ? process->own_io[i] : 0));
	}
}

/* Its clock was read while it lived, but not at its end. */
static void take_last_look(struct programs *programs, struct program *program,
			   struct program_process *process, const struct program_event *event)
{
	int64_t used_ns = event->seen_ns - (process ? process->cpu_ns : 0);

	program_note_known(programs, program, event->seen_ns - event->before_ns,
			   event->life_ns - event->unseen_ns, event->had_children);
	credit_time(program, used_ns);
	program->ended_ns += (double)max_i64(0, used_ns);
	if (process)
		process->cpu_ns = max_i64(process->cpu_ns, event->seen_ns);
}

/* Its memory has gone by now, so the last sample tells it. */
static void keep_failure(struct programs *programs, const struct process_tree *tree,
			 const struct program_event *event)
{
	const struct program_process *process = find_process(programs, event->pid);
	const bool is_sampled = process && process->read_ns;
	const struct failure failure = {
		.pid = event->pid,
		.parent_pid = event->parent_pid,
		.reaper_pid = event->reaper_pid,
		.wait_status = event->wait_status,
		.is_fork = event->is_fork,
		.program = event->before,
		.parent = event->parent,
		.forked_ns = event->forked_ns,
		.ended_ns = event->at_ns,
		.last_fork_ns = event->last_fork_ns,
		.cpu_ns = max_i64(event->clock_ns, is_sampled       ? process->cpu_ns
						   : event->seen_ns ? event->seen_ns
								    : -1),
		.resident_kib = is_sampled ? process->resident_pages * (tree->root->page_bytes >> 10) : 0,
		.sampled_ns = is_sampled ? process->read_ns : 0,
	};

	if (event->pid == tree->root_pid)
		programs->root = failure;
	failures_add(&programs->failures, &failure);
}

static void take_exit(struct programs *programs, struct process_tree *tree, const struct program_event *event,
		      int64_t now_ns)
{
	struct program_process *process = find_process(programs, event->pid);
	bool is_named = event->before || (process && process->identity);
	size_t parent = event->parent ? programs_index(programs, event->parent) : NO_PROGRAM;
	size_t index = program_of_event(programs, event, process, event->before);
	struct program *program = &programs->at[index];
	int64_t before_ns = process ? process->cpu_ns : 0, unseen_ns = event->unseen_ns;

	program->exited_count++;
	if (event->before)
		program_note_named(program, parent, event->life_ns);
	take_io(program, event, process);
	programs->has_ended_io &= event->has_io;
	if (event->clock_ns >= 0) {
		credit_time(program, event->clock_ns - before_ns);
		program->ended_ns += (double)max_i64(1, event->clock_ns - before_ns);
		program->missed_ns += (double)event->unrecorded_ns;
		program_note_known(programs, program, event->clock_ns - event->before_ns, event->life_ns,
				   event->had_children);
	} else if (!process || !process->is_final) {
		take_last_look(programs, program, process, event);
		/* Since its last reading. */
		if (process && process->read_ns)
			unseen_ns = min_i64(unseen_ns, now_ns - process->read_ns);
		program_miss(programs, program, is_named ? NO_PROGRAM : parent, event->life_ns, unseen_ns,
			     event->had_children);
	}
	if (!process) {
		note_ended_member(programs, process_tree_find(tree, event->pid), event, index);
		return;
	}
	/* The process may still be a zombie, or its other threads may run. */
	process->program = index;
	process->is_final = process->is_exited = true;
	process->has_final_io = event->has_io;
	process->cpu_ns = max_i64(process->cpu_ns, event->clock_ns);
	process->seen_pass = programs->pass;
}

static void take_events(struct programs *programs, struct process_tree *tree, int64_t now_ns)
{
	const struct program_event *events;
	size_t count = 0;
	bool lost = false;

	programs->has_ended_io = false;
	if (!programs->listener)
		return;
	/* Parents, as exit records tell them, of processes that nothing else has shown. */
	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].is_zombie && !find_process(programs, tree->members[i].pid))
			program_listener_add(programs->listener, tree->members[i].pid, NULL);
	events = program_listener_take(programs->listener, &count, &lost);
	programs->has_ended_io = !lost;
	for (size_t i = 0; i < count; i++) {
		if (events[i].kind == PROGRAM_EXECED)
			take_exec(programs, &events[i]);
		if (events[i].kind != PROGRAM_EXECED &&
		    (events[i].wait_status || events[i].pid == tree->root_pid))
			keep_failure(programs, tree, &events[i]);
		if (events[i].kind == PROGRAM_EXITED)
			take_exit(programs, tree, &events[i], now_ns);
	}
	programs->exact = !lost;
	/* The processes that the listener followed are unknown to it now. */
	if (!lost)
		return;
	for (size_t i = 0; i < programs->process_count; i++)
		program_listener_add(programs->listener, programs->processes[i].pid,
				     programs->at[programs->processes[i].program].name);
}

static void drop_ended_processes(struct programs *programs, struct process_tree *tree, int64_t now_ns)
{
	size_t patience = programs->listener && programs->exact && !programs->is_finished ? PASSES_KEPT : 0;

	for (size_t i = programs->process_count; i-- > 0;) {
		struct program_process *process = &programs->processes[i];

		if (process->seen_pass + (process->lives_on ? 0 : patience) >= programs->pass)
			continue;
		/* Its exit event came after take_events(): it counts in the next pass. */
		if (programs->listener && !program_listener_remove(programs->listener, process->pid) &&
		    patience && !process->is_exited && process->seen_pass + patience + 1 == programs->pass)
			continue;
		take_unseen_end(programs, tree, process, now_ns);
		remove_process(programs, process);
	}
}

/* ---- a pass ------------------------------------------------------------------------------------------------------ */

static SELDOM void drop_listener(struct programs *programs)
{
	program_listener_close(programs->listener);
	programs->listener = NULL;
	programs->exact = false;
}

static RUNS_ONCE void add_ancestors(struct programs *programs, struct process_tree *tree)
{
	struct proc_pid_stat stat;
	pid_t pid = tree->root_pid;

	while (read_proc_pid_stat(tree->root, pid, &stat) == 0 &&
	       program_listener_add_ancestor(programs->listener, pid, stat.parent_pid))
		pid = stat.parent_pid;
}

/* A program that tracks itself is there at its end. */
static bool follows_waiter(const struct process_tree *tree)
{
	return !tree->started_by_caller && tree->with_children && !tree->cpu.own_cost;
}

RUNS_ONCE void programs_start(struct programs *programs, struct process_tree *tree)
{
	programs->last_ns = root_monotonic_ns(tree->root);
	programs->started = true;
	for (size_t i = 0; i < tree->count && !tree->started_by_caller; i++)
		look_at_member(programs, tree, &tree->members[i], programs->last_ns);
	if (!programs->listener)
		return;
	/* The caller has only forked it: exec gives it its program. */
	program_listener_add(programs->listener, tree->root_pid, NULL);
	if (!tree->started_by_caller)
		add_ancestors(programs, tree);
	programs->exact = true;
	if (program_listener_start(programs->listener, tree->started_by_caller) < 0)
		drop_listener(programs);
	else if (follows_waiter(tree) && tree->count) {
		programs->waiter.pid = tree->members[0].parent_pid;
		root_waiter_begin(&programs->waiter, tree->root);
	}
}

void programs_hear(struct programs *programs, bool with_thread)
{
	if (programs->started && programs->listener &&
	    program_listener_hear(programs->listener, with_thread) < 0)
		drop_listener(programs);
}

bool programs_have_thread(const struct programs *programs)
{
	return programs && programs->listener && program_listener_runs(programs->listener);
}

bool programs_listen(const struct programs *programs)
{
	return programs && programs->started && programs->listener;
}

bool programs_are_exact(const struct programs *programs)
{
	return programs_listen(programs) && programs->exact;
}

size_t programs_living(const struct programs *programs, pid_t *ret_pids, size_t most)
{
	return program_listener_living(programs->listener, ret_pids, most);
}

ssize_t programs_forked(const struct programs *programs, pid_t *ret_pids, size_t most)
{
	return program_listener_forked(programs->listener, ret_pids, most);
}

int64_t programs_exits(const struct process_tree *tree)
{
	const struct programs *programs = tree->programs;
	int64_t exits = programs && programs->listener ? program_listener_exits(programs->listener) : -1;

	if (exits >= 0)
		return exits;
	return tree->cpu.exits_missed || exits == PROGRAM_EXITS_LOST ? -1 : tree->exited_count;
}

RUNS_ONCE enum programs_hearing programs_hear_failures(const struct programs *programs)
{
	if (!programs->started || !programs->listener)
		return PROGRAMS_HEAR_NONE;
	return program_listener_misses_ends(programs->listener) ? PROGRAMS_HEAR_SOME : PROGRAMS_HEAR_ALL;
}

void programs_before_reap(struct programs *programs)
{
	if (programs->started && programs->listener)
		program_listener_catch_up(programs->listener);
}

RUNS_ONCE void programs_finish(struct programs *programs)
{
	programs->is_finished = true;
	if (programs->started && programs->listener)
		program_listener_finish(programs->listener);
}

/*
 * A process outside an attached tree may wait for a daemon of it, whose last time is then in the figures of no member. The clocks and the
 * exit records show it.
 */
static void tell_credited(const struct programs *programs, struct process_tree *tree)
{
	int64_t credited_ns = 0;

	for (size_t i = 0; i < programs->count; i++)
		credited_ns += programs->at[i].credited_ns;
	cpu_raise(tree, credited_ns);
}

/*
 * The figures of the first process's parent come first: a child that it waits for later is none of theirs. A parent that tells the end itself
 * (base/told_end.h) does so after the pass that found the process gone, and knows it to the microsecond.
 */
static void take_events_with_waiter(struct programs *programs, struct process_tree *tree, int64_t now_ns)
{
	struct root_waiter *waiter = &programs->waiter;
	const struct member *root = process_tree_root(tree);
	struct rusage usage;
	bool has = tree->cpu.root_vanished && (waiter->is_late || tree->is_last_pass) &&
		   root_waiter_has(waiter, tree->root, &usage);

	waiter->is_late = tree->cpu.root_vanished;
	take_events(programs, tree, now_ns);
	if (!follows_waiter(tree))
		return;
	if (!programs->exact || program_listener_other_ended(programs->listener) ||
	    (root && root->parent_pid != waiter->pid)) {
		waiter->is_known = false;
		waiter->is_wanted = root;
		if (root)
			waiter->pid = root->parent_pid;
	} else if (has) {
		cpu_root_was_waited_for(tree, &usage);
	} else if (waiter->is_wanted) {
		root_waiter_begin(waiter, tree->root);
	}
}

void programs_end_pass(struct programs *programs, struct process_tree *tree)
{
	int64_t now_ns = root_monotonic_ns(tree->root);

	if (!programs->started)
		return;
	programs_hear(programs, !programs->is_finished);
	programs->pass++;
	for (size_t i = 0; i < programs->count; i++)
		program_begin_pass(&programs->at[i]);
	take_events_with_waiter(programs, tree, now_ns);
	for (size_t i = 0; i < tree->count; i++)
		look_at_member(programs, tree, &tree->members[i], now_ns);
	drop_ended_processes(programs, tree, now_ns);
	programs->pass_ns = now_ns - programs->last_ns;
	if (!tree->started_by_caller)
		tell_credited(programs, tree);
	programs_share(programs, cpu_published(tree), process_tree_running(tree));
	programs->last_ns = now_ns;
}
