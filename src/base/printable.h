/*
 * Foreign text on a terminal: names of files and programs, values of recordings and price lists, words of servers. An
 * escape sequence in one of them could rewrite what the screen shows, or type at the next prompt. Everything that is
 * printed for people passes through here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Replaces each byte that a terminal obeys by '?': control characters but newline, tab and a carriage return before a
 * newline, DEL, the controls of C1 as UTF-8 and as single bytes, and marks that turn the direction of writing.
 */
void make_printable(char *text, size_t length);

/* Appends a text as it may be printed within a line: newlines and tabs are replaced as well. */
void buffer_add_printable(struct buffer *out, const char *text);

/* Whether a valid UTF-8 sequence of two or more bytes is a control of C1 or turns the direction of writing. */
bool is_obeyed_by_terminals(const unsigned char *at, size_t length);
