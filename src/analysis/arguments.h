/*
 * Lists that grow while the command line is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resource_tracker_analysis.h"

struct text_list {
	const char **texts; /* of argv, or of `owned` */
	size_t count;
	char **owned;
	size_t owned_count;
};

/* Adds a text; false without memory. */
bool text_list_add(struct text_list *list, const char *text);
/* Adds the parts between commas; brackets hide theirs: "disk[a,b].x" is one part. */
bool text_list_add_parts(struct text_list *list, const char *text);
void text_list_done(struct text_list *list);
#define CLEANUP_TEXTS __attribute__((cleanup(text_list_done)))

/* "NAME=FILE" is a run of the side NAME, unless there is a file of that name; "FILE" is a side of its own. */
struct run_list {
	struct rt_compared_run *runs;
	size_t count;
};
/* All words of the command line; false without memory. */
bool run_list_fill(struct run_list *list, char **words, size_t count);
void run_list_done(struct run_list *list);
#define CLEANUP_RUNS __attribute__((cleanup(run_list_done)))

/* Whole numbers and reals that are the whole text. */
bool parse_count(const char *text, int64_t *ret_count);
bool parse_real(const char *text, double *ret_real);
