/* The texts about a job that a user may give (JOB_SETTING of options/settings.def), for outputs that list them. */
#pragma once

#include <stddef.h>

struct job_text {
	const char *name;  /* the member of run_start: "project_name" */
	const char *label; /* for people: "Project"; an example may follow in brackets */
};

extern const struct job_text JOB_TEXTS[];
extern const size_t JOB_TEXT_COUNT;
