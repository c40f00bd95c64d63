/* The TCP connections of a job. See job_sockets.h. */
#include "job/network/job_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/network/network_tuning.h"
#include "metric/absent.h"

/* ---- the table ------------------------------------------------------------------------------------------- */

static struct job_socket *find_by(const struct job_sockets *sockets, const struct id_table *table,
				  uint64_t id)
{
	uint32_t index;

	return id_table_find(table, id, &index) ? &sockets->sockets[index] : NULL;
}

static struct job_socket *add_socket(struct job_sockets *sockets, uint64_t inode, uint64_t cookie)
{
	size_t capacity = sockets->capacity ? sockets->capacity * 2 : 16;
	struct job_socket *added;

	if (sockets->count == SOCKETS_MOST) {
		sockets->overflowed = true;
		return NULL;
	}
	if (sockets->count == sockets->capacity) {
		struct job_socket *grown = reallocarray(sockets->sockets, capacity, sizeof *grown);

		if (!grown)
			return NULL;
		sockets->sockets = grown;
		sockets->capacity = capacity;
	}
	if ((inode && id_table_put(&sockets->by_inode, inode, (uint32_t)sockets->count) < 0) ||
	    (cookie && id_table_put(&sockets->by_cookie, cookie, (uint32_t)sockets->count) < 0))
		return NULL;
	added = &sockets->sockets[sockets->count++];
	*added = (struct job_socket){.inode = inode, .is_held = true, .trusted = true};
	added->socket = (struct diag_socket){.cookie = cookie, .received = -1, .sent = -1, .retransmits = -1};
	return added;
}

static struct traffic_count counted_traffic(const struct job_socket *socket)
{
	struct traffic_count count = {
		max_i64(socket->socket.received - socket->base.received, 0),
		max_i64(socket->socket.sent - socket->base.sent, 0),
		max_i64(socket->socket.retransmits - socket->base.retransmits, 0),
	};

	return count;
}

static void add_socket_traffic(struct traffic_count *sum, const struct traffic_count *more)
{
	sum->received += more->received;
	sum->sent += more->sent;
	sum->retransmits += more->retransmits;
}

static bool is_listening(const struct job_socket *socket)
{
	return socket->socket.state == TCP_LISTEN_STATE;
}

/* A socket that was never connected is in no dump, or has counted nothing. */
static bool is_connection(const struct job_socket *socket)
{
	return socket->is_held && socket->socket.cookie && !is_listening(socket) &&
	       (socket->socket.received > 0 || socket->socket.sent > 0);
}

static void end_socket(struct job_sockets *sockets, struct job_socket *socket)
{
	struct traffic_count count = counted_traffic(socket);

	if (is_connection(socket)) {
		add_socket_traffic(&sockets->ended, &count);
		sockets->ended_count++;
	}
	socket->has_ended = true;
}

static void drop_ended_sockets(struct job_sockets *sockets)
{
	size_t kept = 0;

	for (size_t i = 0; i < sockets->count; i++)
		if (!sockets->sockets[i].has_ended)
			sockets->sockets[kept++] = sockets->sockets[i];
	if (kept == sockets->count)
		return;
	sockets->count = kept;
	id_table_clear(&sockets->by_inode);
	id_table_clear(&sockets->by_cookie);
	/* The tables keep their memory, so that nothing can fail here. */
	for (size_t i = 0; i < kept; i++) {
		if (sockets->sockets[i].inode)
			(void)id_table_put(&sockets->by_inode, sockets->sockets[i].inode, (uint32_t)i);
		if (sockets->sockets[i].socket.cookie)
			(void)id_table_put(&sockets->by_cookie, sockets->sockets[i].socket.cookie,
					   (uint32_t)i);
	}
}

/* Counters never go down. The last notification has the final ones. */
static void take_figures(struct job_socket *socket, const struct diag_socket *now)
{
	struct diag_socket before = socket->socket;

	socket->socket = *now;
	socket->socket.received = max_i64(before.received, now->received);
	socket->socket.sent = max_i64(before.sent, now->sent);
	socket->socket.retransmits = max_i64(before.retransmits, now->retransmits);
	socket->unanswered = 0;
}

static struct traffic_count figures_of(const struct diag_socket *socket)
{
	return (struct traffic_count){max_i64(socket->received, 0), max_i64(socket->sent, 0),
				      max_i64(socket->retransmits, 0)};
}

/* ---- what the kernel tells --------------------------------------------------------------------------------- */

static const struct job_socket *accepted_from(const struct job_sockets *sockets,
					      const struct diag_socket *connection)
{
	for (size_t i = 0; i < sockets->count; i++) {
		const struct job_socket *socket = &sockets->sockets[i];

		if (is_listening(socket) && socket->is_held && socket->trusted && !socket->has_ended &&
		    diag_is_from(connection, &socket->socket))
			return socket;
	}
	return NULL;
}

static bool is_foreign_socket(const struct job_sockets *sockets, const struct diag_socket *socket)
{
	return id_table_find(&sockets->foreign, socket->cookie, NULL);
}

/* A socket of the kernel's table that belongs to the job for the first time. */
static struct job_socket *recognise_socket(struct job_sockets *sockets, const struct diag_socket *now)
{
	struct job_socket *socket = find_by(sockets, &sockets->by_inode, now->inode);
	bool in_group = sockets->cgroup_id && now->cgroup_id == sockets->cgroup_id;

	if (socket && !socket->socket.cookie) {
		if (id_table_put(&sockets->by_cookie, now->cookie, (uint32_t)(socket - sockets->sockets)) < 0)
			return NULL;
		/* It was made outside the job and handed over. */
		if (is_foreign_socket(sockets, now)) {
			socket->base = figures_of(now);
			socket->trusted = false;
		}
		return socket;
	}
	if (in_group || (now->state != TCP_LISTEN_STATE && !is_foreign_socket(sockets, now) &&
			 accepted_from(sockets, now)))
		return add_socket(sockets, now->inode, now->cookie);
	return NULL;
}

static void visit_dumped(void *context, const struct diag_socket *now)
{
	struct job_sockets *sockets = context;
	struct job_socket *socket = find_by(sockets, &sockets->by_cookie, now->cookie);

	if (!socket)
		socket = recognise_socket(sockets, now);
	if (socket)
		take_figures(socket, now);
}

static void visit_ended(void *context, const struct diag_socket *last)
{
	struct job_sockets *sockets = context;
	struct job_socket *socket = find_by(sockets, &sockets->by_cookie, last->cookie);
	struct traffic_count count = figures_of(last);

	if (socket_fences_pass(sockets->fences, last->cookie) || (socket && socket->has_ended))
		return;
	if (socket) {
		bool listened = is_listening(socket);

		take_figures(socket, last);
		socket->socket.state = listened ? TCP_LISTEN_STATE : last->state;
		end_socket(sockets, socket);
		return;
	}
	if (is_foreign_socket(sockets, last) || (!count.received && !count.sent))
		return;
	if (accepted_from(sockets, last)) {
		add_socket_traffic(&sockets->ended, &count);
		sockets->ended_count++;
		return;
	}
	add_socket_traffic(&sockets->unattributed, &count);
	sockets->unattributed_count++;
}

static void stop_hearing_ends(struct job_sockets *sockets)
{
	if (sockets->ended_fd >= 0)
		close(sockets->ended_fd);
	sockets->ended_fd = -1;
	sockets->lost_ends = true;
}

/* Takes the notifications that are there. */
static void take_ended_sockets(struct job_sockets *sockets, int64_t now_ns)
{
	int64_t begun_ns = thread_cpu_now_ns();
	int count;

	if (sockets->ended_fd < 0)
		return;
	allowance_earn(&sockets->for_ends, now_ns, ENDS_EARN_NS, ENDS_SAVED_NS);
	count = sock_diag_take_ended(sockets->ended_fd, visit_ended, sockets);
	if (count < 0)
		sockets->lost_ends = true;
	sockets->notified_count += max_i64(count, 0);
	sockets->for_ends.left_ns -= thread_cpu_now_ns() - begun_ns;
	sockets->taken_ns = now_ns;
	/* Connections end so often on this machine that to hear of them costs more than it is worth. */
	if (sockets->for_ends.left_ns < 0)
		stop_hearing_ends(sockets);
}

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

/*
 * Waits at most half a second until the kernel has told of all ends. If it has not, `lost_ends` or `lost_tails` is set. A job without a sign of a
 * connection sets no fences: they take a thread that runs on each CPU, at the end of each job. Its bound is then 0, and too low if all
 * its connections were short and a real-time process kept the CPU whose work queue tells of their ends.
 */
static void wait_for_ends(struct job_sockets *sockets, const struct root *root, int64_t now_ns)
{
	int64_t begun_ns = now_ns;
	bool quiet = !sockets->count && !sockets->ended_count && !sockets->unattributed_count;

	if (sockets->ended_fd < 0 || quiet)
		return;
	sockets->lost_ends |= socket_fences_begin(&sockets->fences) < 0;
	while (sockets->fences && sockets->ended_fd >= 0 && patience_left(sockets, now_ns - begun_ns) > 0) {
		(void)sock_diag_wait(sockets->ended_fd, 1);
		now_ns = root_monotonic_ns(root);
		take_ended_sockets(sockets, now_ns);
	}
	if (sockets->fences && socket_fences_state(sockets->fences) != FENCES_ALL_PASSED)
		sockets->lost_ends = true;
	sockets->lost_tails |= has_unanswered(sockets);
	socket_fences_end(sockets->fences);
	sockets->fences = NULL;
}

/* ---- the beginning ----------------------------------------------------------------------------------------- */

static void visit_own_socket(void *context, int fd, uint64_t inode)
{
	struct job_sockets *sockets = context;
	struct diag_socket figures;
	struct job_socket *socket;
	uint32_t known;

	if (id_table_find(&sockets->by_inode, inode, &known) || sock_info(fd, &figures) < 0)
		return;
	socket = add_socket(sockets, inode, 0);
	if (!socket)
		return;
	socket->is_held = socket->trusted = false;
	socket->base = figures_of(&figures);
}

static void open_for_questions(struct job_sockets *sockets)
{
	if (sockets->ask_fd < 0)
		sockets->ask_fd = sock_diag_open();
	if (sockets->ask_fd < 0)
		sockets->error = -sockets->ask_fd;
}

void job_sockets_open(struct job_sockets *sockets, const struct root *root, bool attached)
{
	*sockets = (struct job_sockets){.ask_fd = -1, .ended_fd = -1, .from_start = !attached};
	sockets->changes.file = KEPT_FILE("proc/net/sockstat");
	/* Before there are sockets of ours. */
	if (!attached)
		socket_holders_search_self(root, visit_own_socket, sockets);
	sockets->ended_fd = sock_diag_listen(&sockets->room);
	sockets->lost_ends = sockets->ended_fd < 0;
	sockets->room /= NOTIFICATION_ROOM_BYTES;
	/* If the kernel notifies, it will answer as well, and a job of a moment needs no answers. */
	if (sockets->lost_ends)
		open_for_questions(sockets);
}

void job_sockets_close(struct job_sockets *sockets)
{
	if (sockets->ask_fd >= 0)
		close(sockets->ask_fd);
	stop_hearing_ends(sockets);
	kept_file_close(&sockets->changes.file);
	free(sockets->sockets);
	id_table_done(&sockets->by_inode);
	id_table_done(&sockets->by_cookie);
	id_table_done(&sockets->foreign);
	socket_holders_done(&sockets->holders);
}

static void visit_held(void *context, uint64_t inode, enum socket_protocol protocol)
{
	struct job_sockets *sockets = context;
	struct job_socket *socket;

	if (protocol == SOCKET_DATAGRAM)
		sockets->has_datagrams = true;
	if (protocol != SOCKET_TCP)
		return;
	socket = find_by(sockets, &sockets->by_inode, inode);
	if (socket) {
		socket->is_held = true;
		return;
	}
	if (add_socket(sockets, inode, 0))
		sockets->next_try_ns = 0;
}

struct dumped {
	struct diag_socket *sockets;
	size_t count;
	size_t capacity;
};

static void keep_dumped(void *context, const struct diag_socket *socket)
{
	struct dumped *dumped = context;

	if (dumped->count == dumped->capacity) {
		size_t capacity = dumped->capacity ? dumped->capacity * 2 : 64;
		struct diag_socket *grown = capacity > FOREIGN_MOST
						    ? NULL
						    : reallocarray(dumped->sockets, capacity, sizeof *grown);

		if (!grown)
			return;
		dumped->sockets = grown;
		dumped->capacity = capacity;
	}
	dumped->sockets[dumped->count++] = *socket;
}

/*
 * The dump comes before the search: a socket in it that a member had at that moment is found by the search, unless it was
 * closed in between. All others were there before the job, and are not the job's.
 */
SELDOM static void tell_apart(struct job_sockets *sockets, const struct dumped *dumped)
{
	for (size_t i = 0; i < dumped->count; i++) {
		const struct diag_socket *now = &dumped->sockets[i];
		struct job_socket *socket;

		visit_dumped(sockets, now);
		socket = find_by(sockets, &sockets->by_cookie, now->cookie);
		if (!socket) {
			(void)id_table_put(&sockets->foreign, now->cookie, (uint32_t)i);
		} else if (!sockets->from_start) {
			socket->base = figures_of(now);
			/* A parent of the process attached to may accept from it, too. */
			socket->trusted = false;
		}
	}
}

RUNS_ONCE void job_sockets_begin(struct job_sockets *sockets, struct process_tree *tree)
{
	struct dumped dumped = {0};
	struct stat status;

	if (sockets->has_begun || sockets->error)
		return;
	open_for_questions(sockets);
	if (sockets->error)
		return;
	sockets->has_begun = true;
	if (tree->cgroup_folder >= 0 && fstat(tree->cgroup_folder, &status) == 0)
		sockets->cgroup_id = status.st_ino;
	sockets->is_selected = sockets->cgroup_id;
	sockets->error = -sock_diag_dump(sockets->ask_fd, 0, keep_dumped, &dumped);
	(void)socket_holders_search(&sockets->holders, tree, -1, visit_held, sockets);
	tell_apart(sockets, &dumped);
	free(dumped.sockets);
	sockets->dumped_ns = root_monotonic_ns(tree->root);
}

/* ---- later ------------------------------------------------------------------------------------------------- */

/* A held socket that no dump has shown: it is not connected yet, or newer than the last dump. */
static bool has_unresolved(const struct job_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (sockets->sockets[i].is_held && !sockets->sockets[i].socket.cookie)
			return true;
	return false;
}

static void dump_if_due(struct job_sockets *sockets, const struct process_tree *tree, int64_t now_ns)
{
	bool unresolved = now_ns >= sockets->next_try_ns && has_unresolved(sockets);
	/* A job that did not run has made no connection. */
	int64_t every_ns = sockets->holders.denied ? DENIED_DUMP_EVERY_NS : GROUP_DUMP_EVERY_NS;
	bool for_group = sockets->is_selected && now_ns - sockets->dumped_ns >= every_ns &&
			 tree->changed_ns >= sockets->dumped_ns;
	int64_t begun_ns;
	int error = 0;

	allowance_earn(&sockets->for_dumps, now_ns, DUMPS_EARN_NS, DUMPS_SAVED_NS);
	if ((!unresolved && !for_group) || sockets->for_dumps.left_ns <= 0)
		return;
	begun_ns = thread_cpu_now_ns();
	if (sockets->is_selected)
		error = sock_diag_dump(sockets->ask_fd, sockets->cgroup_id, visit_dumped, sockets);
	if (error)
		sockets->is_selected = false;
	unresolved = unresolved && has_unresolved(sockets);
	/* Handed over from outside the group? */
	if (unresolved && (!sockets->is_selected || sockets->try_pause_ns))
		(void)sock_diag_dump(sockets->ask_fd, 0, visit_dumped, sockets);
	/* A socket that is still unknown may stay unconnected for ever: try less and less often. */
	unresolved = unresolved && has_unresolved(sockets);
	sockets->try_pause_ns = unresolved ? min_i64(LONGEST_TRY_PAUSE_NS,
						     max_i64(FIRST_TRY_PAUSE_NS, 2 * sockets->try_pause_ns))
					   : 0;
	sockets->next_try_ns = now_ns + sockets->try_pause_ns;
	sockets->dumped_ns = now_ns;
	sockets->for_dumps.left_ns -= thread_cpu_now_ns() - begun_ns;
}

static void ask_one(struct job_sockets *sockets, struct job_socket *socket)
{
	struct diag_socket now;
	int error = sock_diag_single(sockets->ask_fd, &socket->socket, &now);

	if (!error) {
		take_figures(socket, &now);
		return;
	}
	if (error != -ENOENT)
		return;
	socket->unanswered++;
	/* Without its notification, the bytes since the last answer are unknown. */
	if (socket->unanswered > UNANSWERED_MOST || sockets->ended_fd < 0) {
		sockets->lost_tails = true;
		end_socket(sockets, socket);
	}
}

static void ask_for_dump(struct job_sockets *sockets, size_t most)
{
	size_t count = sockets->count;

	for (size_t i = 0; i < count && most; i++) {
		struct job_socket *socket = &sockets->sockets[sockets->next++ % count];

		if (!socket->is_held || !socket->socket.cookie || is_listening(socket) || socket->has_ended)
			continue;
		ask_one(sockets, socket);
		most--;
	}
}

/*
 * A job that ends within some milliseconds is over before the first look. The kernel's table then holds a connection of it
 * only if the kernel still has to send its last bytes.
 */
static bool came_too_late(struct job_sockets *sockets, const struct process_tree *tree)
{
	return process_tree_running(tree) == 0 && socket_changes_no_orphans(&sockets->changes, tree->root);
}

static void search_holders(struct job_sockets *sockets, struct process_tree *tree, int64_t now_ns,
			   bool is_last)
{
	allowance_earn(&sockets->for_searches, now_ns, SEARCHES_EARN_NS, SEARCHES_SAVED_NS);
	socket_changes_look(&sockets->changes, tree->root, sockets->lost_ends ? -1 : sockets->notified_count);
	if (sockets->for_searches.left_ns <= 0 ||
	    (!is_last && !socket_changes_any(&sockets->changes, now_ns)))
		return;
	sockets->for_searches.left_ns -= socket_holders_search(
		&sockets->holders, tree, sockets->for_searches.left_ns, visit_held, sockets);
	socket_changes_searched(&sockets->changes, sockets->holders.is_complete, now_ns);
}

void job_sockets_update(struct job_sockets *sockets, struct process_tree *tree, bool is_last)
{
	int64_t now_ns = root_monotonic_ns(tree->root);

	if (is_last && !sockets->has_begun && !sockets->error && came_too_late(sockets, tree)) {
		sockets->has_begun = true;
		take_ended_sockets(sockets, now_ns);
		wait_for_ends(sockets, tree->root, now_ns);
		drop_ended_sockets(sockets);
		return;
	}
	job_sockets_begin(sockets, tree);
	if (sockets->error)
		return;
	take_ended_sockets(sockets, now_ns);
	search_holders(sockets, tree, now_ns, is_last);
	dump_if_due(sockets, tree, now_ns);
	ask_for_dump(sockets, is_last ? sockets->count : ASKED_AT_ONCE);
	if (is_last)
		wait_for_ends(sockets, tree->root, now_ns);
	drop_ended_sockets(sockets);
}

int64_t job_sockets_attend(struct job_sockets *sockets, int64_t now_ns)
{
	int64_t since_ns = max_i64(now_ns - sockets->taken_ns, 1), before = sockets->notified_count, expected,
		pause_ns;

	if (sockets->error || sockets->ended_fd < 0)
		return INT64_MAX;
	take_ended_sockets(sockets, now_ns);
	drop_ended_sockets(sockets);
	/* Come again before a quarter of the room is used, also if as many as now come in a shorter time. */
	expected =
		max_i64((sockets->notified_count - before) * NSEC_PER_SEC / since_ns, EXPECTED_ENDS_PER_SEC);
	pause_ns = sockets->room * NSEC_PER_SEC / (4 * expected);
	return now_ns + max_i64(ENDS_PAUSE_LEAST_NS, min_i64(pause_ns, ENDS_PAUSE_MOST_NS));
}

void job_sockets_total(const struct job_sockets *sockets, struct job_traffic *ret_traffic)
{
	/* A connection of a member whose descriptors may not be read is neither known nor in the bound while it is open. */
	bool hidden = sockets->holders.denied && !sockets->is_selected;
	struct job_traffic traffic = {
		.known = sockets->ended,
		.count = sockets->ended_count,
		.has_datagrams = sockets->has_datagrams,
		.has_bound = !sockets->lost_ends && !sockets->lost_tails && !sockets->overflowed && !hidden,
		.unattributed = sockets->unattributed,
		.unattributed_count = sockets->unattributed_count,
	};

	for (size_t i = 0; i < sockets->count; i++) {
		const struct job_socket *socket = &sockets->sockets[i];
		struct traffic_count count = counted_traffic(socket);

		if (socket->is_held && socket->socket.state == TCP_ESTABLISHED_STATE &&
		    socket->socket.received < 0)
			traffic.reason = ABSENT_NO_SUCH_COUNTER;
		if (!is_connection(socket) || socket->has_ended)
			continue;
		add_socket_traffic(&traffic.known, &count);
		traffic.open_count++;
		traffic.count++;
	}
	if (sockets->error)
		traffic.reason = sockets->error;
	else if (!sockets->has_begun)
		traffic.reason = ABSENT_NOT_YET;
	else if (hidden && !traffic.count)
		traffic.reason = EACCES;
	else if (traffic.has_datagrams && !traffic.count)
		traffic.reason = ABSENT_NO_SUCH_COUNTER;
	*ret_traffic = traffic;
}
