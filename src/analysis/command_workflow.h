/* The words of commands that take the folder of a workflow. */
#pragma once

#include <sys/stat.h>

#include "options/option.h"
#include "resource_tracker_internal.h"

static inline void cleanup_workflow(rt_workflow **workflow)
{
	rt_workflow_free(*workflow);
}
#define CLEANUP_WORKFLOW __attribute__((cleanup(cleanup_workflow)))

/* A folder holds the steps of a workflow. */
static inline bool has_folder(const struct text_list *files)
{
	struct stat status;

	for (size_t i = 0; i < files->count; i++)
		if (stat(files->texts[i], &status) == 0 && S_ISDIR(status.st_mode))
			return true;
	return false;
}
