/*
 * Finds the GPU device files that members of the job hold open, by /proc/PID/fd. Searching all descriptors
 * costs at least 20 us per process. So a process is searched again only after a while, and a pass has a budget.
 * A file that a process opens is found within eight seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

enum { MEMBER_FILES_MAX = 32, MEMBER_FILES_MEMBERS_MAX = 4096 };

enum gpu_file_kind { GPU_FILE_DRM, GPU_FILE_NVIDIA };

struct gpu_file {
	int fd;
	int kind;   /* enum gpu_file_kind */
	int number; /* N of renderDN, cardN, nvidiaN */
};

struct file_holder {
	pid_t pid;
	int denied; /* errno if its descriptors cannot be read; 0: they can */
	int count;
	struct gpu_file files[MEMBER_FILES_MAX];
	bool left_out;      /* it has more */
	int64_t look_at_ns; /* when to search it again */
	int64_t look_pause_ns;
	bool present;
};

/* Sorted by pid. Zero it before the first use. */
struct member_files {
	struct file_holder *holders;
	size_t count;
	size_t capacity;
	size_t next; /* the next pass continues here, where the budget ended */
};

void member_files_done(struct member_files *files);

/* Replaces the table's processes by these, and searches as many as the budget allows. -ENOMEM. */
int member_files_update(struct member_files *files, struct root *root, const pid_t *pids, size_t count,
			int64_t now_ns);

/* Whether the descriptor still leads to that device file. */
bool member_file_is_open(const struct root *root, pid_t pid, const struct gpu_file *file);

/* A descriptor has changed: search again at the next pass. */
void member_files_look_again(struct file_holder *holder);
