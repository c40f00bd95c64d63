/* Tests of src/wrap/witness.c: each count that the tracker sees has its time. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/wait_child.h"
#include "wrap/state.h"

enum { SIGNALS = 1000 };

/* The tracker looks while the witness counts, on another processor. It once dropped one count of a hundred beside a load. */
static void a_signal_that_was_counted_has_its_time(void **state)
{
	const int signo = SIGRTMIN + 1;
	struct shared_page *page =
		mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wrap wrap = {.own_pid = getpid(), .page = page};
	struct sighting *sighting;
	int old = 0;

	(void)state;
	assert_true(page != MAP_FAILED);
	if (is_emulated())
		skip();
	sighting = &page->sightings[signo];
	witness_start(&wrap);
	assert_true(wrap.witness > 0);
	while (!witness_has_answered(&wrap, witness_ask(&wrap)))
		usleep(1000);
	for (uint32_t i = 0; i < SIGNALS; i++) {
		int64_t sent_ns = monotonic_now_ns();

		assert_int_equal(kill(wrap.witness, signo), 0);
		while (atomic_load(&sighting->sent) == i)
			;
		old += atomic_load(&sighting->last_ns) < sent_ns;
	}
	witness_kill(&wrap);
	(void)wait_child(wrap.witness, NULL, 0, NULL);
	munmap(page, sizeof *page);
	assert_int_equal(old, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_that_was_counted_has_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
