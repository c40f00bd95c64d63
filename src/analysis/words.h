/*
 * Lists that grow while the command line is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resource_tracker_analysis.h"

struct text_list {
	const char **texts; /* point into argv or into `owned` */
	size_t count;
	char **owned;
	size_t owned_count;
};

/* Adds a text; returns false if memory runs out. */
bool text_list_add(struct text_list *list, const char *text);
/* Adds a copy of a text. */
bool text_list_add_copy(struct text_list *list, const char *text);
/* Adds the parts between commas. A comma inside brackets separates nothing: "disk[a,b].x" is one part. */
bool text_list_add_parts(struct text_list *list, const char *text);
void text_list_done(struct text_list *list);
#define CLEANUP_TEXTS __attribute__((cleanup(text_list_done)))

/*
 * "NAME=FILE" adds a run to the side NAME; "FILE" is a side by itself. A word that names an existing file is
 * always a FILE, even if it contains "=".
 */
struct run_list {
	struct rt_compared_run *runs;
	size_t count;
};
/* Adds each word of the command line; returns false if memory runs out. */
bool run_list_fill(struct run_list *list, const char *const *words, size_t count);
void run_list_done(struct run_list *list);
#define CLEANUP_RUNS __attribute__((cleanup(run_list_done)))

/* Parse a whole number or a real number; the number must be the whole text. */
bool parse_count(const char *text, int64_t *ret_count);
bool parse_real(const char *text, double *ret_real);
