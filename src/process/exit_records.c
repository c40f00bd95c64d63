/* Exit records of the job's processes; see exit_records.h. */
#include "process/exit_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/netlink.h"

enum { BUFFER_BYTES = 4 << 20, RECORDS_MOST = 1 << 14 };

int exit_records_open(struct exit_records *records)
{
	records->fd = taskstats_open(BUFFER_BYTES, &records->family);
	return records->fd < 0 ? records->fd : 0;
}

void exit_records_close(struct exit_records *records)
{
	if (records->fd >= 0)
		close(records->fd);
	free(records->at);
	*records = (struct exit_records){.fd = -1};
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
	char bytes[4096];
	int length, error = 0;

	if (records->fd < 0)
		return 0;
	while ((length = netlink_receive(records->fd, bytes, sizeof bytes)) > 0 || length == -ENOBUFS) {
		struct scan messages = scan_bytes(bytes, length > 0 ? (size_t)length : 0);
		struct taskstats record;

		while (taskstats_next(&messages, records->family, &record))
			if (keep_record(records, &record) < 0)
				error = -ENOMEM;
		if (length < 0)
			error = length;
	}
	return error;
}

/* Before Linux 6.0, a record does not tell the process. That of a known process is its only thread's, or its first one's. */
static pid_t process_of(const struct taskstats *record)
{
	return record->pid ? record->pid : record->tid;
}

static int find_members(const struct exit_records *records, struct known_processes *known)
{
	for (size_t i = records->count; i-- > 0;) {
		const struct taskstats *record = &records->at[i];
		const struct known_process *parent;
		struct known_process process = {.pid = record->pid, .record_ns = -1, .clock_ns = -1};

		if ((!record->is_last && record->tid != record->pid) ||
		    known_processes_find(known, process_of(record)))
			continue;
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
static void name_process(struct known_process *process, const struct taskstats *record,
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

int exit_records_settle(struct exit_records *records, struct known_processes *known,
			struct program_names *names, process_ended ended, void *context)
{
	size_t kept = 0;
	int error = find_members(records, known);

	for (size_t i = 0; i < records->count; i++) {
		struct known_process *process = known_processes_find(known, process_of(&records->at[i]));

		if (!process)
			continue;
		process->record_ns =
			(process->record_ns < 0 ? 0 : process->record_ns) + records->at[i].cpu_ns;
		name_process(process, &records->at[i], names);
	}
	for (size_t i = 0; i < records->count; i++) {
		const struct taskstats *record = &records->at[i];
		struct known_process *process = known_processes_find(known, process_of(record));

		if (process && (record->is_last || !record->pid))
			ended(context, process, record);
		else if (!process && i >= records->old)
			records->at[kept++] = *record;
	}
	records->count = records->old = kept;
	return error;
}
