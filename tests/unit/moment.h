/* A call of the C library that fails, or before which another process acts, at a chosen moment. */
#pragma once

#include "unit.h"

#include <errno.h>

enum { EACH_TIME = -1 };

struct moment {
	int passes;        /* how many calls come before it, or EACH_TIME */
	int error;         /* the call fails with it. 0: it works */
	void (*act)(void); /* happens just before the call */
	int calls;         /* all that were made */
};

/* Whether this call fails. errno is set then. */
static inline bool fails_now(struct moment *moment)
{
	bool is_now = moment->passes == EACH_TIME || moment->calls == moment->passes;

	moment->calls++;
	if (is_now && moment->act)
		moment->act();
	if (is_now && moment->error)
		errno = moment->error;
	return is_now && moment->error;
}
