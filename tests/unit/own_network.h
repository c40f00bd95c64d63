/* Connections over the loopback in a network of the test's own, for tests of src/job/network/job_sockets.c. */
#pragma once

#include "burner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "job/network/job_sockets.h"
#include "metric/absent.h"

enum { BYTES = 1000, SLACK = 2 }; /* the kernel counts SYN and FIN as a byte each */

static int64_t passed_ns, stopped_ns;
static int64_t leap_ns; /* that the clock goes on by with each reading */

static inline int64_t later_ns(void *context)
{
	(void)context;
	if (stopped_ns)
		return stopped_ns;
	passed_ns += leap_ns;
	return SYSTEM_CLOCKS.monotonic_ns(NULL) + passed_ns;
}

static struct root root;
static struct process_tree tree;
static struct job_sockets sockets;
static struct job_traffic traffic;
static struct sockaddr_in address;
static int listener, client, server;

/* Ends of other programs' connections would be in the bound. */
static inline bool has_own_network(void)
{
	struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	static bool has_it;
	int fd;

	if (has_it || unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return has_it;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	has_it = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
	close(fd);
	return has_it;
}

static inline void pass_fence(void *fences, const struct diag_socket *ended)
{
	(void)socket_fences_pass(fences, ended->cookie);
}

/* The kernel tells of the last test's connections a moment after their ends. */
static inline void await_earlier_ends(void)
{
	struct socket_fences *fences;
	int64_t room;
	int fd = sock_diag_listen(&room);

	if (fd < 0 || socket_fences_begin(&fences) < 0)
		return;
	while (socket_fences_state(fences) == FENCES_WAITED_FOR) {
		(void)sock_diag_wait(fd, 1);
		(void)sock_diag_take_ended(fd, pass_fence, fences);
	}
	socket_fences_end(fences);
	close(fd);
}

#define NEEDS_A_NETWORK() \
	do { \
		NEEDS_THE_KERNEL_ITSELF(); \
		if (!has_own_network()) \
			SKIP("this user may have no network of their own"); \
		await_earlier_ends(); \
	} while (0)

static inline int begin_machine(void **state)
{
	(void)state;
	tree = (struct process_tree){.root = &root, .cgroup_folder = -1};
	listener = client = server = -1;
	stopped_ns = leap_ns = 0;
	return root_open(&root, NULL, &(struct clocks){later_ns, SYSTEM_CLOCKS.realtime_ns, NULL});
}

static inline void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline int end_machine(void **state)
{
	(void)state;
	close_end(&listener);
	close_end(&client);
	close_end(&server);
	free(tree.members);
	free(tree.slots);
	root_close(&root);
	return 0;
}

static inline void add_member(pid_t pid)
{
	struct member member = {.pid = pid, .cpu = NEW_MEMBER_CPU};

	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	tree.root_pid = pid;
}

static inline void listen_here(void)
{
	socklen_t length = sizeof address;

	address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
}

static inline void send_bytes(void)
{
	static char bytes[BYTES];

	assert_int_equal(send(client, bytes, BYTES, 0), BYTES);
	assert_int_equal(recv(server, bytes, BYTES, MSG_WAITALL), BYTES);
}

static inline void connect_both(void)
{
	if (listener < 0)
		listen_here();
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(server >= 0);
	send_bytes();
}

/* The kernel tells of an end a moment later. */
static inline void close_both(void)
{
	close_end(&client);
	close_end(&server);
	if (sockets.ended_fd >= 0)
		assert_true(sock_diag_wait(sockets.ended_fd, 10000));
}

static inline void begin_sockets(bool attached)
{
	job_sockets_open(&sockets, &root, attached);
	if (sockets.ended_fd < 0 || sockets.error)
		SKIP("the kernel has no sock_diag for this user");
	job_sockets_total(&sockets, &traffic);
	assert_int_equal(traffic.reason, ABSENT_NOT_YET);
	job_sockets_begin(&sockets, &tree);
	assert_int_equal(sockets.error, 0);
}

/* The next look, some seconds later, at which all that may be saved for looks has been earned. */
static inline void look_later(bool is_last)
{
	passed_ns += 60 * NSEC_PER_SEC;
	job_sockets_update(&sockets, &tree, is_last);
	job_sockets_total(&sockets, &traffic);
}

/* Both ends of a connection that no look has seen, told within 10 s. */
static inline void await_unseen_ends(void)
{
	for (int i = 0; i < 1000 && traffic.unattributed_count < 2; i++) {
		(void)job_sockets_attend(&sockets, root_monotonic_ns(&root));
		job_sockets_total(&sockets, &traffic);
		(void)sock_diag_wait(sockets.ended_fd, 10);
	}
}

/* A busy kernel may need longer for its last words than the recorder waits; it says so. */
#define EXPECT_BOUND() assert_true(traffic.has_bound || sockets.lost_ends || sockets.lost_tails)

/* Between `least` bytes, and two more for each of the connections. */
#define EXPECT_BYTES(got, least) assert_true((got) >= (least) && (got) <= (least) + SLACK * 4)

#define unit_test_of_machine(test) cmocka_unit_test_setup_teardown(test, begin_machine, end_machine)
