/* Stands for the kernel's sockets, the fences and the searches, for tests of src/job/network/job_sockets.c. */
#pragma once

#include "scratch.h"

#include <errno.h>

#include "base/clock.h"
#include "job/network/job_sockets.h"
#include "job/network/network_tuning.h"
#include "metric/absent.h"

enum { LISTEN_FD = 1001, ASK_FD = 1002, MOST = 8, PORT = 7, NOTIFICATION_BYTES = 1536 };

static int64_t clock_ns;

static inline int64_t told_ns(void *context)
{
	(void)context;
	return clock_ns;
}

static int64_t cpu_ns;

/* A nanosecond passes with each call. */
int64_t thread_cpu_now_ns(void)
{
	return ++cpu_ns;
}

const struct clocks SYSTEM_CLOCKS = {told_ns, told_ns, NULL};

static struct diag_socket in_table[MOST], told_ends[MOST], own_figures;
static size_t table_count, end_count;
static int listen_error, open_error, dump_error, group_error, ask_error, take_error, info_error;
static int dumps, group_dumps, waits, opens, more_dumped;

int sock_diag_listen(int64_t *ret_room)
{
	*ret_room = 10 * NOTIFICATION_BYTES;
	return listen_error ? listen_error : LISTEN_FD;
}

int sock_diag_open(void)
{
	opens++;
	return open_error ? open_error : ASK_FD;
}

bool diag_is_from(const struct diag_socket *connection, const struct diag_socket *listening)
{
	return connection->id[0] == listening->id[0];
}

int sock_diag_dump(int fd, uint64_t cgroup_id, diag_visit *visit, void *context)
{
	assert_int_equal(fd, ASK_FD);
	*(cgroup_id ? &group_dumps : &dumps) += 1;
	if (cgroup_id ? group_error : dump_error)
		return cgroup_id ? group_error : dump_error;
	for (size_t i = 0; i < table_count; i++)
		if (!cgroup_id || in_table[i].cgroup_id == cgroup_id)
			visit(context, &in_table[i]);
	for (int i = 0; i < more_dumped; i++)
		visit(context, &(struct diag_socket){.cookie = 1000000 + (uint64_t)i});
	return 0;
}

int sock_diag_single(int fd, const struct diag_socket *asked, struct diag_socket *ret_socket)
{
	assert_int_equal(fd, ASK_FD);
	for (size_t i = 0; !ask_error && i < table_count; i++)
		if (in_table[i].cookie == asked->cookie) {
			*ret_socket = in_table[i];
			return 0;
		}
	return ask_error ? ask_error : -ENOENT;
}

int sock_diag_take_ended(int fd, diag_visit *visit, void *context)
{
	size_t count = end_count;

	assert_int_equal(fd, LISTEN_FD);
	end_count = 0;
	for (size_t i = 0; i < count; i++)
		visit(context, &told_ends[i]);
	return take_error ? take_error : (int)count;
}

/* No notification comes in that time. */
bool sock_diag_wait(int fd, int milliseconds)
{
	assert_int_equal(fd, LISTEN_FD);
	clock_ns += milliseconds * NSEC_PER_MSEC;
	waits++;
	return false;
}

int sock_info(int fd, struct diag_socket *ret_socket)
{
	(void)fd;
	*ret_socket = own_figures;
	return info_error;
}

static enum fences_state fences_now;
static int fences_error, fences_begun, fences_ended, passed_after;

int socket_fences_begin(struct socket_fences **ret_fences)
{
	static char fences;

	fences_begun++;
	if (!fences_error)
		*ret_fences = (struct socket_fences *)(void *)&fences;
	return fences_error;
}

void socket_fences_end(struct socket_fences *fences)
{
	fences_ended += fences != NULL;
}

bool socket_fences_pass(struct socket_fences *fences, uint64_t cookie)
{
	(void)fences, (void)cookie;
	return false;
}

enum fences_state socket_fences_state(struct socket_fences *fences)
{
	(void)fences;
	if (fences_now == FENCES_WAITED_FOR && waits == passed_after)
		fences_now = FENCES_ALL_PASSED;
	return fences_now;
}

static struct {
	uint64_t inode;
	enum socket_protocol protocol;
} held[MOST];
static size_t held_count;
static uint64_t own_inode;
static int64_t search_costs_ns, search_limit_ns;
static int searches;

int64_t socket_holders_search(struct socket_holders *holders, struct process_tree *tree, int64_t allowance_ns,
			      socket_visit *visit, void *context)
{
	(void)tree;
	searches++;
	search_limit_ns = allowance_ns;
	holders->is_complete = true;
	for (size_t i = 0; i < held_count; i++)
		visit(context, held[i].inode, held[i].protocol);
	return search_costs_ns;
}

void socket_holders_search_self(const struct root *root, own_socket_visit *visit, void *context)
{
	(void)root;
	if (own_inode)
		visit(context, 5, own_inode);
}

void socket_holders_done(struct socket_holders *holders)
{
	(void)holders;
}

static struct root root;
static struct process_tree tree;
static struct job_sockets sockets;
static struct job_traffic traffic;

static inline int begin(void **state)
{
	clock_ns = 1000 * NSEC_PER_SEC;
	table_count = end_count = held_count = 0;
	listen_error = open_error = dump_error = group_error = ask_error = take_error = info_error = 0;
	dumps = group_dumps = waits = opens = more_dumped = 0;
	fences_now = FENCES_ALL_PASSED;
	fences_error = fences_begun = fences_ended = passed_after = searches = 0;
	own_inode = 0;
	search_costs_ns = search_limit_ns = 0;
	tree = (struct process_tree){.root = &root, .cgroup_folder = -1};
	return scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 || mkdir("proc/net", 0755) < 0
		       ? -1
		       : root_open(&root, ".", &(struct clocks){told_ns, told_ns, NULL});
}

/* Closes none of the descriptors, which this test has made up. */
static inline void close_sockets(void)
{
	sockets.ask_fd = sockets.ended_fd = -1;
	job_sockets_close(&sockets);
	sockets = (struct job_sockets){.ask_fd = -1};
}

static inline int end(void **state)
{
	close_sockets();
	root_close(&root);
	free(tree.members);
	free(tree.slots);
	return scratch_leave(state);
}

static inline void open_sockets(bool attached)
{
	job_sockets_open(&sockets, &root, attached);
}

static inline void look(bool is_last)
{
	clock_ns += NSEC_PER_SEC;
	job_sockets_update(&sockets, &tree, is_last);
	job_sockets_total(&sockets, &traffic);
}

static inline struct diag_socket connection(uint64_t cookie, int64_t received, int64_t sent)
{
	return (struct diag_socket){.cookie = cookie,
				    .inode = cookie + 100,
				    .state = TCP_ESTABLISHED_STATE,
				    .received = received,
				    .sent = sent,
				    .id = {(uint8_t)cookie}};
}

static inline struct diag_socket server(uint64_t cookie)
{
	return (struct diag_socket){.cookie = cookie,
				    .inode = cookie + 100,
				    .state = TCP_LISTEN_STATE,
				    .received = -1,
				    .sent = -1,
				    .retransmits = -1,
				    .id = {PORT}};
}

/* One that the kernel lists. */
static inline void put(struct diag_socket socket)
{
	in_table[table_count++] = socket;
}

/* One that a member holds, too. */
static inline void put_held(struct diag_socket socket)
{
	put(socket);
	held[held_count].inode = socket.inode;
	held[held_count++].protocol = SOCKET_TCP;
}

static inline void tell_end(struct diag_socket socket)
{
	socket.inode = 0;
	told_ends[end_count++] = socket;
}

static inline void expect_known(int64_t received, int64_t sent, int64_t count)
{
	assert_int_equal(traffic.known.received, received);
	assert_int_equal(traffic.known.sent, sent);
	assert_int_equal(traffic.count, count);
}

static inline void expect_unattributed(int64_t received, int64_t sent, int64_t count)
{
	assert_int_equal(traffic.unattributed.received, received);
	assert_int_equal(traffic.unattributed.sent, sent);
	assert_int_equal(traffic.unattributed_count, count);
}

#define unit_test_told(test) cmocka_unit_test_setup_teardown(test, begin, end)
