/* Exit records of the job's processes. See exit_records.h. */
#include "job/programs/exit_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/min_max.h"
#include "job/programs/program_tuning.h"
#include "kernel/netlink.h"

/* A record has 596 bytes on Linux 6.18, and 1,172 if it is that of the last thread of several. */
enum { RECORD_BATCH = 16, RECORD_BYTES = 2048 };

int exit_records_open(struct exit_records *records)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
		records->tick_ns = tick.tv_nsec;
	records->fd = taskstats_open(RECORDS_ROOM_BYTES, &records->family);
	return records->fd < 0 ? records->fd : 0;
}

void exit_records_close(struct exit_records *records)
{
	if (records->fd >= 0)
		close(records->fd);
	free(records->at);
	*records = (struct exit_records){
		.fd = -1, .ancestors = records->ancestors, .has_orphan = records->has_orphan};
}

static int keep_record(struct exit_records *records, const struct taskstats *record)
{
	if (records->count == records->capacity) {
		size_t capacity = records->capacity ? records->capacity * 2 : 64;
		struct taskstats *at =
			capacity > RECORDS_MOST ? NULL : realloc(records->at, capacity * sizeof *at);

		if (!at)
			return -ENOMEM;
		records->at = at;
		records->capacity = capacity;
	}
	records->at[records->count++] = *record;
	return 0;
}

int exit_records_read(struct exit_records *records)
{
	char bytes[RECORD_BATCH][RECORD_BYTES];
	struct netlink_batch batch = {
		.bytes = bytes[0], .datagram_bytes = RECORD_BYTES, .capacity = RECORD_BATCH};
	int count = RECORD_BATCH, error = 0;

	while (records->fd >= 0 && (count == RECORD_BATCH || count == -ENOBUFS)) {
		count = netlink_receive_batch(records->fd, &batch);
		for (int i = 0; i < count; i++) {
			struct scan messages = netlink_datagram(&batch, i);
			struct taskstats record;

			while (taskstats_next(&messages, records->family, &record))
				if (keep_record(records, &record) < 0)
					error = -ENOMEM;
		}
		if (count == -ENOBUFS)
			error = count;
	}
	return error;
}

/* Before Linux 6.0, a record does not tell the process. That of a known process is its only thread's, or its first one's. */
static pid_t process_of(const struct taskstats *record)
{
	return record->pid ? record->pid : record->tid;
}

static bool is_ancestor(const struct job_ancestors *ancestors, pid_t pid)
{
	for (int i = 0; i < ancestors->count; i++)
		if (ancestors->pids[i] == pid)
			return true;
	return false;
}

/* Whether the parent of the job's first process may wait for another one. */
void ancestors_note_end(struct job_ancestors *ancestors, pid_t pid, pid_t parent)
{
	ancestors->other_ended |= pid != ancestors->root && parent == ancestors->pids[0];
}

static int find_members(struct exit_records *records, struct known_processes *known)
{
	for (size_t i = records->count; i-- > 0;) {
		const struct taskstats *record = &records->at[i];
		const struct known_process *parent;
		struct known_process process = {.pid = record->pid, .record_ns = -1, .clock_ns = -1};

		if (!record->is_last && record->tid != record->pid)
			continue;
		if (i >= records->old)
			ancestors_note_end(&records->ancestors, process_of(record), record->parent_pid);
		if (known_processes_find(known, process_of(record)))
			continue;
		records->has_orphan |= is_ancestor(&records->ancestors, record->parent_pid);
		parent = known_processes_find(known, record->parent_pid);
		if (!parent || !record->pid)
			continue;
		process.parent = parent->program ? parent->program : parent->parent;
		if (known_processes_add(known, &process) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * A process that was seen running has the name by which it was seen, unless its own says that it has called exec since.
 * `parent` may be the program of an ancestor: bash forks cc and cc forks a child before cc's name could be read. The child's
 * own name decides.
 */
static void name_by_record(struct known_process *process, const struct taskstats *record,
			   struct program_names *names)
{
	bool is_first = process_of(record) == record->tid;

	if (process->program && (!is_first || program_names_match(process->program, record->comm)))
		return;
	if (!process->program && is_first && record->is_fork && process->parent &&
	    program_names_match(process->parent, record->comm))
		process->program = process->parent;
	else if (is_first || !process->program)
		process->program = program_names_of(names, record->comm);
}

/*
 * The kernel adds to cpu_ns at each tick and each switch, so a record lacks the time since then. A thread that never slept was on
 * a CPU or waited for one all its life, so that the time is known. A process that has waited for children mostly ends soon
 * after its last sleep.
 */
static int64_t time_since_tick(const struct taskstats *record, int64_t tick_ns, bool has_children,
			       bool *ret_known)
{
	int64_t rest_ns = record->elapsed_ns - record->delay_ns - record->cpu_ns,
		turn_ns = record->cpu_ns / (record->sleeps + 1), likely_ns = min_i64(turn_ns, tick_ns) / 2;

	if (has_children && turn_ns <= tick_ns)
		likely_ns = min_i64(likely_ns, AFTER_SLEEP_NS);

	*ret_known = !record->sleeps && record->delay_ns > 0 && rest_ns >= 0 && rest_ns <= tick_ns;
	return *ret_known ? rest_ns : rest_ns < 0 ? likely_ns : min_i64(rest_ns, likely_ns);
}

void exit_record_add(struct known_process *process, const struct taskstats *record, int64_t tick_ns)
{
	bool is_known;
	int64_t since_ns = time_since_tick(record, tick_ns, process->has_children, &is_known);

	process->record_ns = max_i64(0, process->record_ns) + record->cpu_ns + (is_known ? since_ns : 0);
	process->unrecorded_ns += is_known ? 0 : since_ns;
	/* After the record, the last thread of a process closes its files and frees the memory. */
	if (record->is_last || !record->pid)
		process->unrecorded_ns +=
			RECORD_END_NS + min_i64(record->peak_resident_kib, INT32_MAX) * RECORD_FREE_KIB_NS;
	for (int i = 0; i < TASKSTATS_IO; i++)
		process->record_io[i] += record->io[i];
}

int exit_records_settle(struct exit_records *records, struct known_processes *known,
			struct program_names *names, process_ended ended, void *context)
{
	size_t kept = 0;
	int error = find_members(records, known);

	for (size_t i = 0; i < records->count; i++) {
		struct known_process *process = known_processes_find(known, process_of(&records->at[i]));
		struct known_process *parent = known_processes_find(known, records->at[i].parent_pid);

		/* Its own record comes later than those of its children. */
		if (parent)
			parent->has_children = true;
		if (!process)
			continue;
		exit_record_add(process, &records->at[i], records->tick_ns);
		name_by_record(process, &records->at[i], names);
	}
	for (size_t i = 0; i < records->count; i++) {
		const struct taskstats *record = &records->at[i];
		struct known_process *process = known_processes_find(known, process_of(record));

		if (process && (record->is_last || !record->pid))
			ended(context, process);
		else if (!process && i >= records->old)
			records->at[kept++] = *record;
	}
	records->count = records->old = kept;
	return error;
}
