/* Asks a vendor library, publishes, sleeps. See worker.h. */
#include "helper/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) < 0 ? 0 : now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
	const struct timespec at = {at_ns / NSEC_PER_SEC, at_ns % NSEC_PER_SEC};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* The page already holds the time that earlier workers and the supervisor used. */
static void account_worker_cpu(struct helper_page *page, int64_t *counted_ns)
{
	int64_t used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	page->cpu_ns += used_ns - *counted_ns;
	*counted_ns = used_ns;
}

int worker_run(const struct helper_view *view, const struct helper_kind *kind)
{
	CLEANUP_FREE char *request = malloc(kind->request_bytes + 1);
	CLEANUP_FREE char *answer = malloc(kind->answer_bytes + 1);
	struct helper_page *page = view->page;
	int64_t next_ns = 0, counted_ns = 0;
	void *state = NULL;

	if (!request || !answer)
		return WORKER_FAILED;
	page->pass_began_ns = clock_ns(CLOCK_MONOTONIC);
	if (kind->open(view->setup, &state) < 0) {
		debug_say("worker", page->pass_began_ns, "cannot open %s", kind->name);
		return WORKER_FAILED;
	}
	while (next_ns < INT64_MAX) {
		ptrdiff_t asked;
		ssize_t length;
		int64_t began_ns;

		if (next_ns)
			sleep_until(next_ns);
		began_ns = clock_ns(CLOCK_MONOTONIC);
		page->pass_began_ns = began_ns;
		asked = latest_read(&view->request, request, kind->request_bytes, NULL);
		/* If a kind does not say when to run again, do not spin. */
		next_ns = began_ns + NSEC_PER_SEC;
		length = kind->pass(state, request, asked < 0 ? 0 : (size_t)asked, answer, &next_ns);
		if (length >= 0)
			(void)latest_write(&view->answer, answer, (size_t)length, clock_ns(CLOCK_MONOTONIC));
		page->pass_count++;
		page->pass_began_ns = 0;
		debug_say("worker", began_ns, "pass %lld has an answer of %lld bytes",
			  (long long)page->pass_count, (long long)length);
		account_worker_cpu(page, &counted_ns);
	}
	return WORKER_CONTENT;
}
