/*
 * Lists that grow while the command line is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Whole numbers and reals that are the whole text. */
bool parse_count(const char *text, int64_t *ret_count);
bool parse_real(const char *text, double *ret_real);
