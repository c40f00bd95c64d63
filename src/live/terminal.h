/*
 * The terminal, by ncursesw: shows a canvas and reads keys. Only one can be open. terminal_close() puts the
 * terminal back, and so does a crash.
 */
#pragma once

#include <stdbool.h>

#include "live/canvas.h"
#include "live/graph.h"

/*
 * `colour`: auto, always or never. Returns 0; -ENOTTY: standard input or output is not a terminal; -ENOTSUP: a kind of
 * terminal that cannot show a screen, or a build without ncursesw.
 */
int terminal_open(const char *colour);
void terminal_close(void);

/* Whether this build can show a screen. */
bool terminal_is_built(void);

/* The richest graphs that it can show. */
enum graph_style terminal_style(void);
void terminal_size(size_t *ret_rows, size_t *ret_columns);
/*
 * `again`: draws all of it, because another program has written to the terminal. Else only what has changed. The canvas has the screen of
 * before afterwards, or is empty.
 */
void terminal_show(struct canvas *canvas, bool again);
/* The next key: a character or one of enum view_key, 0 for none now; UINT32_MAX: one without a meaning. */
uint32_t terminal_key(void);
/* After SIGWINCH: takes the new size. */
void terminal_resize(void);
/* Leaves the screen for the shell, and comes back to it. */
void terminal_suspend(void);
void terminal_resume(void);
void terminal_bell(void);
