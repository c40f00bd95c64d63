/* A herd of processes; see herd.h. */
#include "herd.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPINS = 2000 };

struct herd_page {
	_Atomic int round; /* -1: exit */
	_Atomic int done;  /* children that finished this round */
	pid_t pids[];
};

static void sleep_on(_Atomic int *word, int value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void live(struct herd_page *page)
{
	int round = 0;

	for (;;) {
		volatile int spin = 0;

		atomic_fetch_add(&page->done, 1);
		while (atomic_load(&page->round) == round)
			sleep_on(&page->round, round);
		round = atomic_load(&page->round);
		if (round < 0)
			_exit(0);
		while (spin < SPINS)
			spin = spin + 1;
	}
}

static void lead(struct herd_page *page, int size)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < size; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			live(page);
		}
		if (pid < 0)
			_exit(1);
		page->pids[i] = pid;
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void wait_for_all(const struct herd *herd)
{
	while (atomic_load(&herd->page->done) < herd->size && waitpid(herd->leader, NULL, WNOHANG) == 0)
		sched_yield();
	/* The last children have counted themselves, but may not sleep yet. */
	usleep(2000);
}

int herd_start(struct herd *ret_herd, int size)
{
	size_t bytes = sizeof(struct herd_page) + (size_t)size * sizeof(pid_t);
	struct herd herd = {.size = size};

	herd.page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (herd.page == MAP_FAILED)
		return -errno;
	herd.pids = herd.page->pids;
	herd.leader = fork();
	if (herd.leader < 0)
		return -errno;
	if (herd.leader == 0)
		lead(herd.page, size);
	wait_for_all(&herd);
	if (atomic_load(&herd.page->done) < size)
		return -EAGAIN;
	*ret_herd = herd;
	return 0;
}

static void wake(struct herd *herd, int round)
{
	atomic_store(&herd->page->done, 0);
	atomic_store(&herd->page->round, round);
	syscall(SYS_futex, &herd->page->round, FUTEX_WAKE, herd->size, NULL, NULL, 0);
}

void herd_run(struct herd *herd)
{
	wake(herd, atomic_load(&herd->page->round) + 1);
	wait_for_all(herd);
}

void herd_stop(struct herd *herd)
{
	wake(herd, -1);
	waitpid(herd->leader, NULL, 0);
	munmap(herd->page, sizeof(struct herd_page) + (size_t)herd->size * sizeof(pid_t));
}
