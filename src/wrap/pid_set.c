#include "wrap/pid_set.h"

#include <errno.h>
#include <stdlib.h>

int pid_set_add(struct pid_set *set, pid_t pid)
{
	if (pid_set_has(set, pid))
		return 0;
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? 2 * set->capacity : 8;
		pid_t *pids = realloc(set->pids, capacity * sizeof *pids);

		if (!pids)
			return -ENOMEM;
		set->pids = pids;
		set->capacity = capacity;
	}
	set->pids[set->count++] = pid;
	return 0;
}

bool pid_set_has(const struct pid_set *set, pid_t pid)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->pids[i] == pid)
			return true;
	}
	return false;
}

void pid_set_remove(struct pid_set *set, pid_t pid)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->pids[i] != pid)
			continue;
		set->pids[i] = set->pids[--set->count];
		return;
	}
}

void pid_set_free(struct pid_set *set)
{
	free(set->pids);
	*set = (struct pid_set){0};
}
