/* Help in lines of at most 80 columns, from the tables of options. */
#pragma once

#include "base/buffer.h"
#include "options/option.h"

/* Appends an option with its help beside it. */
void add_option_help(struct buffer *out, const struct option_row *row);

/* The same for any label, such as a subcommand with its arguments. */
void add_label_help(struct buffer *out, const char *label, const char *help);

/* Appends text that fills the lines; "\n" ends a paragraph. */
void add_paragraphs(struct buffer *out, const char *text);
