/* The files below a history's folder: lines, compression, removal. Only history*.c need this. */
#pragma once

#include "base/buffer.h"
#include <stdbool.h>

/*
 * Adds the file of lines to the text. A missing file adds nothing. Never follows a link, never waits for a FIFO.
 * Lines of more than a MiB are left out. Returns 1 if there are some, or if the file is larger than the buffer may be: the text is
 * its beginning.
 */
int history_read_lines(int folder, struct buffer *text);
/* Appends whole lines with one write(2). */
int history_append(int folder, const struct buffer *lines);
/* Puts a new file of lines in the place of the old one, or, on a full disk, shorter text into it. */
int history_replace_lines(int folder, const struct buffer *lines);

/* Compresses run `number`'s recording and removes the plain one. Its marks go along. */
int history_compress(int folder, unsigned number);
/* Removes all files of a run. */
void history_remove_files(int folder, unsigned number);
/* Keeps the number of a removed run from being given again. The sign goes when there is a newer run. */
void history_mark_removed(int folder, unsigned number, bool is_newest);
