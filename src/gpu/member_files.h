/*
 * Finds the GPU device files that members of the job hold open, by /proc/PID/fd. Looking through all descriptors
 * costs 20 us or more a process, so a process is looked through again only after a while, and a pass has a
 * budget. A file that a process opens is found within eight seconds.
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
	int denied; /* errno when its descriptors cannot be seen; 0: they can */
	int count;
	struct gpu_file files[MEMBER_FILES_MAX]; /* more are left out */
	int64_t look_at_ns;                      /* when to look through it again */
	int64_t look_pause_ns;
	bool present;
};

/* Sorted by pid. Zero it before the first use. */
struct member_files {
	struct file_holder *holders;
	size_t count;
	size_t capacity;
	size_t next; /* where the budget ended: the next pass goes on there */
};

void member_files_done(struct member_files *files);

/* Makes the table that of these processes and looks through as many as the budget allows. -ENOMEM. */
int member_files_update(struct member_files *files, struct root *root, const pid_t *pids, size_t count,
			int64_t now_ns);

/* A descriptor is not what it was: look again at the next pass. */
void member_files_look_again(struct file_holder *holder);
