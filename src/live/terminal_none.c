/* In place of terminal.c if the build has no ncursesw. */
#include <errno.h>
#include <stdint.h>

#include "live/terminal.h"

bool terminal_is_built(void)
{
	return false;
}

int terminal_open(const char *colour)
{
	(void)colour;
	return -ENOTSUP;
}

void terminal_close(void)
{
}

enum graph_style terminal_style(void)
{
	return GRAPH_ASCII;
}

void terminal_size(size_t *ret_rows, size_t *ret_columns)
{
	*ret_rows = *ret_columns = 0;
}

void terminal_show(struct canvas *canvas, bool again)
{
	(void)canvas;
	(void)again;
}

uint32_t terminal_key(void)
{
	return 0;
}

void terminal_resize(void)
{
}

void terminal_suspend(void)
{
}

void terminal_resume(void)
{
}

void terminal_bell(void)
{
}
