/* Whether there may be new sockets. See socket_changes.h. */
#include "job/network/socket_changes.h"

#include "job/network/network_tuning.h"

void socket_changes_look(struct socket_changes *changes, struct root *root, int64_t ended)
{
	changes->earlier = changes->now;
	changes->now = (struct socket_counts){.kernel = {.sockets = -1}, .ended = ended};
	(void)read_proc_net_sockstat(root, &changes->file, &changes->now.kernel);
}

static bool are_equal(const struct socket_counts *now, const struct socket_counts *before)
{
	return now->kernel.sockets >= 0 && now->ended >= 0 && now->ended == before->ended &&
	       now->kernel.sockets == before->kernel.sockets &&
	       now->kernel.tcp_in_use == before->kernel.tcp_in_use &&
	       now->kernel.tcp_allocated == before->kernel.tcp_allocated;
}

bool socket_changes_any(const struct socket_changes *changes, int64_t now_ns)
{
	return !changes->searched_ns || now_ns - changes->searched_ns >= SEARCH_ANYWAY_NS ||
	       !are_equal(&changes->now, &changes->searched);
}

bool socket_changes_none(const struct socket_changes *changes)
{
	return are_equal(&changes->now, &changes->earlier);
}

void socket_changes_searched(struct socket_changes *changes, bool is_complete, int64_t now_ns)
{
	changes->searched = changes->earlier;
	changes->searched_ns = is_complete ? now_ns : 0;
}

bool socket_changes_no_orphans(struct socket_changes *changes, struct root *root)
{
	struct proc_net_sockstat sockstat;

	return read_proc_net_sockstat(root, &changes->file, &sockstat) == 0 && sockstat.tcp_orphans == 0;
}
