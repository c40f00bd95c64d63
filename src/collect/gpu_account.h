/*
 * Computes the job's part of each GPU: a pure function of two surveys and the members of the job.
 *
 * The sources, the most reliable first: process ids in our namespace (or found in the members' NSpid),
 * then the members' descriptors, which prove that a device is not used, then a device with a single process while a
 * member has its file open. Otherwise the part is unknown, which is not zero.
 */
#pragma once

#include "gpu/survey.h"
#include "job/tree/process_tree.h"

/* A survey and the time at which it was true (CLOCK_MONOTONIC). */
struct timed_survey {
	struct gpu_survey *survey;
	int64_t at_ns; /* 0: none */
};

/*
 * The members of the job: the tree, and processes that have left it since the survey (at the end of a run all
 * have). The survey is still true of those.
 */
struct gpu_members {
	const struct process_tree *tree; /* NULL: no process is tracked */
	const pid_t *gone;
	size_t gone_count;
};

struct device_account {
	bool divided;           /* the survey has its instances, and their use is counted there */
	int64_t process_count;  /* members on the device */
	int64_t stranger_count; /* other processes listed there */
	int64_t client_count, stranger_client_count; /* of MPS: all, and those of others */
	struct gpu_number used_part;                 /* of this device, 0 to 1 */
	struct gpu_number usage;                     /* in whole GPUs: an instance counts as a part of one */
	struct gpu_number vram_bytes;
	struct gpu_number main_vram_bytes; /* of the tree's root process only */
	struct gpu_number unattributed_vram_bytes;
	struct gpu_number
		utilization_pct; /* of the device, by all processes: the mean since the earlier survey */
	const char *attribution; /* constant. NULL: no attribution was needed */
};

/* A process of now->survey. */
struct process_share {
	struct gpu_number rate; /* part of the device used between the surveys: 0 to 1 */
	bool is_member;
};

/*
 * Computes one account for each device and one share for each process of now->survey. Without a tree, only
 * the fields about devices are filled.
 */
void gpu_account(const struct timed_survey *now, const struct timed_survey *before,
		 const struct gpu_members *members, struct device_account *ret_accounts,
		 struct process_share *ret_shares);

/* The survey was made before the job began, so it has nothing about the job. */
void gpu_account_too_early(struct device_account *account);
