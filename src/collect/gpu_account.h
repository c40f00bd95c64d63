/*
 * Which part of each GPU is the job's: a pure function of two surveys and the job's members.
 *
 * In the order of trust: process ids that are ours (or were found among the members' NSpid); the descriptors of the
 * members, which prove that a device is not used; a device with a single process on it while a member holds its
 * file; otherwise nothing is known, which is not zero.
 */
#pragma once

#include "gpu/survey.h"
#include "process/process_tree.h"

/* A survey, and when it was true (CLOCK_MONOTONIC). */
struct timed_survey {
	struct gpu_survey *survey;
	int64_t at_ns; /* 0: there is none */
};

/*
 * Who belongs to the job: the tree, and those who have left it since the survey was made (at the end of a run all
 * have), which what the survey says of them is still true of.
 */
struct gpu_members {
	const struct process_tree *tree; /* NULL: nothing is tracked */
	const pid_t *gone;
	size_t gone_count;
};

bool gpu_is_member(const struct gpu_members *members, int64_t pid);

struct device_account {
	bool divided;                /* its instances stand in the survey, and carry what happens on it */
	int64_t process_count;       /* members on the device */
	int64_t stranger_count;      /* others that are listed there */
	struct gpu_number used_part; /* of this device, 0 to 1 */
	struct gpu_number usage;     /* in whole GPUs: less than that for an instance */
	struct gpu_number vram_bytes;
	struct gpu_number main_vram_bytes; /* of the tree's root alone */
	struct gpu_number unattributed_vram_bytes;
	struct gpu_number
		utilization_pct; /* of the device, whoever used it: the mean since the earlier survey */
	const char *attribution; /* constant; NULL: nothing was to be told apart */
};

/* One process of now->survey. */
struct process_share {
	struct gpu_number rate; /* how much of the device it used between the surveys: 0 to 1 */
	bool is_member;
};

/*
 * One account for each device of now->survey, and one share for each process. With no tree only what concerns the
 * devices is filled.
 */
void gpu_account(const struct timed_survey *now, const struct timed_survey *before,
		 const struct gpu_members *members, struct device_account *ret_accounts,
		 struct process_share *ret_shares);

/* The survey was made before the job began: nothing of it is the job's, and what is the job's is not in it. */
void gpu_account_too_early(struct device_account *account);
