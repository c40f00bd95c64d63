/* The part of a helper that does the work, in a process of its own. */
#pragma once

#include "helper/helper_kind.h"
#include "helper/shared_page.h"

enum { WORKER_CONTENT = 0, WORKER_FAILED = 1 };

/* One side's view of everything shared. */
struct helper_view {
	struct helper_page *page;
	const void *setup;
	struct latest request;
	struct latest answer;
};

/* Works until there is nothing to do (WORKER_CONTENT) or it cannot (WORKER_FAILED). */
int worker_run(const struct helper_view *view, const struct helper_kind *kind);
