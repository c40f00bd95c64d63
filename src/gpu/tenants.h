/*
 * Resolves the process ids that a device lists. In a container the driver may list ids of the host, or hide
 * processes that the container cannot see. The result goes into ->pids and ->holder_count of each device; ids
 * that are found in a member's NSpid become those of our /proc.
 */
#pragma once

#include "gpu/member_files.h"
#include "gpu/survey.h"

/* Whether the pids of this /proc are those of the whole machine. */
bool in_first_pid_namespace(const struct root *root);

/* `files` must be up to date if a device's tenants are in doubt; see gpu_tenants_in_doubt(). */
void gpu_judge_tenants(struct gpu_survey *survey, struct root *root, const pid_t *members,
		       size_t member_count, const struct member_files *files, bool first_namespace);

/* Whether the descriptors of members are needed to judge. */
bool gpu_tenants_in_doubt(const struct gpu_survey *survey, bool first_namespace);
