/*
 * Makes foreign text safe to print on a terminal: names of files and programs, values of recordings and price
 * lists, words of servers. An escape sequence in one of them could rewrite the screen, or type at the next
 * prompt. All text for people passes through here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Replaces each byte that a terminal obeys by '?': control characters except newline, tab and a carriage return
 * before a newline; DEL; C1 controls, as UTF-8 and as single bytes, and marks that change the direction of
 * writing.
 */
void make_printable(char *text, size_t length);

/* Appends a text for use within a line: newlines and tabs are replaced as well. */
void buffer_add_printable(struct buffer *out, const char *text);

/* Whether a valid UTF-8 sequence of two or more bytes is a control of C1 or turns the direction of writing. */
bool is_obeyed_by_terminals(const unsigned char *at, size_t length);
