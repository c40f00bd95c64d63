/* The last ends of connections that the kernel tells of; see job_sockets.h. */
#include "base/clock.h"
#include "job/network/job_sockets.h"

#define FENCES_PATIENCE_NS (500 * NSEC_PER_MSEC)
#define UNANSWERED_PATIENCE_NS (20 * NSEC_PER_MSEC)

static bool has_unanswered(const struct job_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (sockets->sockets[i].unanswered && !sockets->sockets[i].has_ended)
			return true;
	return false;
}

/* How long to wait from now on for the notifications of ends, which are still on their way. */
static int64_t patience_left(struct job_sockets *sockets, int64_t waited_ns)
{
	if (socket_fences_state(sockets->fences) == FENCES_WAITED_FOR)
		return FENCES_PATIENCE_NS - waited_ns;
	return has_unanswered(sockets) ? UNANSWERED_PATIENCE_NS - waited_ns : 0;
}

void job_sockets_wait_for_ends(struct job_sockets *sockets, const struct root *root, int64_t now_ns)
{
	int64_t begun_ns = now_ns;
	bool quiet = !sockets->count && !sockets->ended_count && !sockets->unattributed_count;

	if (sockets->ended_fd < 0 || quiet)
		return;
	sockets->lost_ends |= socket_fences_begin(&sockets->fences) < 0;
	while (sockets->fences && sockets->ended_fd >= 0 && patience_left(sockets, now_ns - begun_ns) > 0) {
		(void)sock_diag_wait(sockets->ended_fd, 1);
		now_ns = root_monotonic_ns(root);
		(void)job_sockets_take_ended(sockets, now_ns);
	}
	if (sockets->fences && socket_fences_state(sockets->fences) != FENCES_ALL_PASSED)
		sockets->lost_ends = true;
	socket_fences_end(sockets->fences);
	sockets->fences = NULL;
}
