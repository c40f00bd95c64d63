/* A hash table of processes. See known_processes.h. */
#include "job/programs/known_processes.h"

#include <errno.h>
#include <stdlib.h>

#include "job/programs/program_tuning.h"

enum { FIRST_SLOTS = 16 };

static size_t known_slot(const struct known_processes *known, pid_t pid)
{
	return (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (known->slots - 1);
}

struct known_process *known_processes_find(const struct known_processes *known, pid_t pid)
{
	if (!known->slots || pid <= 0)
		return NULL;
	for (size_t i = known_slot(known, pid); known->at[i].pid; i = (i + 1) & (known->slots - 1))
		if (known->at[i].pid == pid)
			return &known->at[i];
	return NULL;
}

static void place_process(struct known_processes *known, const struct known_process *process)
{
	size_t i = known_slot(known, process->pid);

	while (known->at[i].pid)
		i = (i + 1) & (known->slots - 1);
	known->at[i] = *process;
}

static int grow_known(struct known_processes *known)
{
	struct known_processes grown = {.count = known->count,
					.slots = known->slots ? known->slots * 2 : FIRST_SLOTS};

	if (grown.slots > KNOWN_SLOTS_MOST)
		return -ENOMEM;
	grown.at = calloc(grown.slots, sizeof *grown.at);
	if (!grown.at)
		return -ENOMEM;
	for (size_t i = 0; i < known->slots; i++)
		if (known->at[i].pid)
			place_process(&grown, &known->at[i]);
	free(known->at);
	*known = grown;
	return 0;
}

int known_processes_add(struct known_processes *known, const struct known_process *process)
{
	if (known->count * 2 >= known->slots && grow_known(known) < 0)
		return -ENOMEM;
	place_process(known, process);
	known->count++;
	return 0;
}

void known_processes_remove(struct known_processes *known, struct known_process *process)
{
	size_t mask = known->slots - 1, at = (size_t)(process - known->at);

	process->pid = 0;
	known->count--;
	/* The rest of the chain moves up, so that no search ends at the gap. */
	for (size_t i = (at + 1) & mask; known->at[i].pid; i = (i + 1) & mask) {
		struct known_process moved = known->at[i];

		known->at[i].pid = 0;
		place_process(known, &moved);
	}
}

void known_processes_clear(struct known_processes *known)
{
	for (size_t i = 0; i < known->slots; i++)
		known->at[i].pid = 0;
	known->count = 0;
}

void known_processes_done(struct known_processes *known)
{
	free(known->at);
	*known = (struct known_processes){0};
}
