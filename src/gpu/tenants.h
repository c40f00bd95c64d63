/*
 * Whose process ids a device lists: in a container the driver may give those of the host, or hide what the container
 * cannot see. What can be found out is put into ->pids and ->holder_count of each device; process ids that are
 * found among the members' NSpid become those of our /proc.
 */
#pragma once

#include "gpu/member_files.h"
#include "gpu/survey.h"

/* Whether the pids of this /proc are those of the whole machine. */
bool in_first_pid_namespace(const struct root *root);

/* `files` must be up to date where a device's tenants are in doubt; see gpu_tenants_in_doubt(). */
void gpu_judge_tenants(struct gpu_survey *survey, struct root *root, const pid_t *members,
		       size_t member_count, const struct member_files *files, bool first_namespace);

/* Whether the descriptors of members are needed to judge. */
bool gpu_tenants_in_doubt(const struct gpu_survey *survey, bool first_namespace);
