/* Shows a text that is longer than the terminal's screen through the user's pager, as git and man do. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Shows it on standard output through $PAGER, or less, and waits until the user has left it. Returns false if nothing was
 * shown and the caller writes the text itself: standard output is not a terminal, TERM is "dumb" or missing, the text fits
 * the screen, PAGER is empty or "cat", or no pager could be started.
 */
bool show_paged(const char *text, size_t length);
