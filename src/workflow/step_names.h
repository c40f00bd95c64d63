/*
 * The names of what steps make, to find the step that made one of them: targets of make, and files. The texts stay the caller's.
 */
#pragma once

#include "base/scan.h"

struct step_name {
	struct scan text;
	size_t step;
};

struct step_names {
	struct step_name *list;
	size_t count, room;
};

/* -ENOMEM */
int step_names_add(struct step_names *names, struct scan text, size_t step);
/* Adds each word of a text, as those of the tag "makes". */
int step_names_add_words(struct step_names *names, const char *words, size_t step);
/* Follows the last addition. */
void step_names_sort(struct step_names *names);
/* The last step before `step` that makes this name. SIZE_MAX: there is none. */
size_t step_names_find(const struct step_names *names, struct scan text, size_t step);
void step_names_done(struct step_names *names);
#define CLEANUP_STEP_NAMES __attribute__((cleanup(step_names_done)))
