/* Fences behind the ends of connections. See socket_fences.h. */
#include "job/network/socket_fences.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job/network/network_tuning.h"

enum { STACK_BYTES = 131072 };

struct socket_fences {
	pthread_mutex_t lock; /* of all that follows, except `allowed` */
	int holders;          /* the caller and the thread; the last one frees this */
	bool all_set, failed;
	size_t count;                  /* fences that were not notified yet */
	uint64_t cookies[CPU_SETSIZE]; /* theirs */
	cpu_set_t allowed;
};

static void let_go(struct socket_fences *fences)
{
	int left;

	pthread_mutex_lock(&fences->lock);
	left = --fences->holders;
	pthread_mutex_unlock(&fences->lock);
	if (left)
		return;
	pthread_mutex_destroy(&fences->lock);
	free(fences);
}

/* The cookie is in the list before its notification can come. */
static bool set_on_this_cpu(struct socket_fences *fences)
{
	uint64_t cookie;
	socklen_t length = sizeof cookie;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool added;

	if (fd < 0)
		return false;
	added = getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0;
	pthread_mutex_lock(&fences->lock);
	if (added)
		fences->cookies[fences->count++] = cookie;
	pthread_mutex_unlock(&fences->lock);
	close(fd);
	return added;
}

static bool is_given_up(struct socket_fences *fences)
{
	bool given_up;

	pthread_mutex_lock(&fences->lock);
	given_up = fences->holders == 1;
	pthread_mutex_unlock(&fences->lock);
	return given_up;
}

static void *set_fences(void *fences_)
{
	struct socket_fences *fences = fences_;
	bool set = true;

	for (size_t cpu = 0; cpu < CPU_SETSIZE && set && !is_given_up(fences); cpu++) {
		cpu_set_t one;

		if (!CPU_ISSET(cpu, &fences->allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		set = sched_setaffinity(0, sizeof one, &one) == 0 && set_on_this_cpu(fences);
	}
	pthread_mutex_lock(&fences->lock);
	fences->all_set = set;
	fences->failed = !set;
	pthread_mutex_unlock(&fences->lock);
	let_go(fences);
	return NULL;
}

static int start_fence_thread(struct socket_fences *fences)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, set_fences, fences);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

int socket_fences_begin(struct socket_fences **ret_fences)
{
	struct socket_fences *fences = calloc(1, sizeof *fences);
	int error;

	if (!fences)
		return -ENOMEM;
	fences->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	fences->holders = 2;
	if (sched_getaffinity(0, sizeof fences->allowed, &fences->allowed) < 0)
		error = -errno;
	else
		error = start_fence_thread(fences);
	if (error) {
		free(fences);
		return error;
	}
	*ret_fences = fences;
	return 0;
}

void socket_fences_end(struct socket_fences *fences)
{
	if (fences)
		let_go(fences);
}

bool socket_fences_pass(struct socket_fences *fences, uint64_t cookie)
{
	bool found = false;

	if (!fences)
		return false;
	pthread_mutex_lock(&fences->lock);
	for (size_t i = 0; i < fences->count && !found; i++) {
		if (fences->cookies[i] != cookie)
			continue;
		fences->cookies[i] = fences->cookies[--fences->count];
		found = true;
	}
	pthread_mutex_unlock(&fences->lock);
	return found;
}

enum fences_state socket_fences_state(struct socket_fences *fences)
{
	enum fences_state state;

	pthread_mutex_lock(&fences->lock);
	state = fences->failed                      ? FENCES_FAILED
		: fences->all_set && !fences->count ? FENCES_ALL_PASSED
						    : FENCES_WAITED_FOR;
	pthread_mutex_unlock(&fences->lock);
	return state;
}
