/* A small set of process ids: children of the tracker that do not belong to the job. Usually empty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_set {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

int pid_set_add(struct pid_set *set, pid_t pid);
bool pid_set_has(const struct pid_set *set, pid_t pid);
void pid_set_remove(struct pid_set *set, pid_t pid);
void pid_set_free(struct pid_set *set);
