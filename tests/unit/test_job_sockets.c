/* Tests of src/job/network/job_sockets.c with connections over the loopback: which bytes are the job's. */
#include "burner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "job/network/job_sockets.h"
#include "metric/absent.h"

enum { BYTES = 1000, SLACK = 2 }; /* the kernel counts SYN and FIN as a byte each */

static int64_t passed_ns;

static int64_t later_ns(void *context)
{
	(void)context;
	return SYSTEM_CLOCKS.monotonic_ns(NULL) + passed_ns;
}

static struct root root;
static struct process_tree tree;
static struct job_sockets sockets;
static struct job_traffic traffic;
static struct sockaddr_in address;
static int listener, client, server;

/* Ends of other programs' connections would be in the bound. */
static bool has_own_network(void)
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

#define NEEDS_A_NETWORK() \
	do { \
		NEEDS_THE_KERNEL_ITSELF(); \
		if (!has_own_network()) \
			SKIP("this user may have no network of their own"); \
	} while (0)

static int begin_machine(void **state)
{
	(void)state;
	tree = (struct process_tree){.root = &root, .cgroup_folder = -1};
	listener = client = server = -1;
	return root_open(&root, NULL, &(struct clocks){later_ns, SYSTEM_CLOCKS.realtime_ns, NULL});
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int end_machine(void **state)
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

static void add_member(pid_t pid)
{
	struct member member = {.pid = pid, .cpu = NEW_MEMBER_CPU};

	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	tree.root_pid = pid;
}

static void listen_here(void)
{
	socklen_t length = sizeof address;

	address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
}

static void send_bytes(void)
{
	static char bytes[BYTES];

	assert_int_equal(send(client, bytes, BYTES, 0), BYTES);
	assert_int_equal(recv(server, bytes, BYTES, MSG_WAITALL), BYTES);
}

static void connect_both(void)
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
static void close_both(void)
{
	close_end(&client);
	close_end(&server);
	if (sockets.ended_fd >= 0)
		assert_true(sock_diag_wait(sockets.ended_fd, 10000));
}

static void begin_sockets(bool attached)
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
static void look_later(bool is_last)
{
	passed_ns += 60 * NSEC_PER_SEC;
	job_sockets_update(&sockets, &tree, is_last);
	job_sockets_total(&sockets, &traffic);
}

/* Both ends of a connection that no look has seen, told within 10 s. */
static void await_unseen_ends(void)
{
	for (int i = 0; i < 1000 && traffic.unattributed_count < 2; i++) {
		(void)job_sockets_attend(&sockets, root_monotonic_ns(&root));
		job_sockets_total(&sockets, &traffic);
		(void)sock_diag_wait(sockets.ended_fd, 10);
	}
}

/* A busy kernel may need longer for its last words than the recorder waits; it says so. */
#define EXPECT_BOUND() assert_true(traffic.has_bound || sockets.lost_ends)

/* Between `least` bytes, and two more for each of the connections. */
#define EXPECT_BYTES(got, least) assert_true((got) >= (least) && (got) <= (least) + SLACK * 4)

static void each_byte_of_both_ends_counts(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.count, 0);
	connect_both();
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.open_count, 2);
	assert_int_equal(traffic.count, 2);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	EXPECT_BYTES(traffic.known.received, BYTES);
	assert_int_equal(traffic.known.retransmits, 0);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, 2 * BYTES);
	EXPECT_BOUND();
	assert_false(traffic.has_datagrams);
	/* The last figures come with the ends. */
	send_bytes();
	close_both();
	look_later(true);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 2);
	EXPECT_BYTES(traffic.known.sent, 3 * BYTES);
	EXPECT_BYTES(traffic.known.received, 3 * BYTES);
	assert_int_equal(traffic.unattributed_count, 0);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void a_connection_from_before_the_start_counts_from_then_on(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	for (int attached = 0; attached < 2; attached++) {
		if (attached)
			assert_int_equal(end_machine(state) | begin_machine(state), 0);
		add_member(getpid());
		connect_both();
		begin_sockets(attached);
		look_later(false);
		assert_int_equal(traffic.known.sent + traffic.known.received, 0);
		send_bytes();
		look_later(false);
		EXPECT_BYTES(traffic.known.sent, BYTES);
		EXPECT_BYTES(traffic.known.received, BYTES);
		close_both();
		look_later(true);
		EXPECT_BYTES(traffic.known.sent, BYTES);
		job_sockets_close(&sockets);
	}
}

static void a_connection_that_ended_unseen_is_a_bound(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	close_both();
	close_end(&listener);
	await_unseen_ends();
	look_later(true);
	assert_int_equal(traffic.known.sent + traffic.known.received, 0);
	assert_int_equal(traffic.unattributed_count, 2);
	EXPECT_BYTES(traffic.unattributed.sent, BYTES);
	EXPECT_BYTES(traffic.unattributed.received, BYTES);
	assert_int_equal(traffic.count, 0);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void connections_to_a_server_of_the_job_are_the_jobs(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	look_later(false);
	connect_both();
	close_both();
	look_later(true);
	/* The client's end was never seen, and may be another program's. */
	EXPECT_BYTES(traffic.known.received, BYTES);
	assert_true(traffic.known.sent <= SLACK);
	assert_int_equal(traffic.count, 1);
	assert_int_equal(traffic.unattributed_count, 1);
	EXPECT_BYTES(traffic.unattributed.sent, BYTES);
	job_sockets_close(&sockets);
}

static void connections_of_others_never_count(void **state)
{
	pid_t job;

	(void)state;
	NEEDS_A_NETWORK();
	job = start_burner(0);
	add_member(job);
	connect_both();
	begin_sockets(false);
	send_bytes();
	look_later(false);
	close_both();
	look_later(true);
	assert_int_equal(traffic.known.sent + traffic.known.received, 0);
	assert_int_equal(traffic.unattributed_count, 0);
	assert_int_equal(traffic.count, 0);
	job_sockets_close(&sockets);
	end_child(job);
}

static void datagrams_have_no_counter(void **state)
{
	int datagrams;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	look_later(false);
	assert_true(traffic.has_datagrams);
	assert_int_equal(traffic.reason, ABSENT_NO_SUCH_COUNTER);
	/* A local socket is none. With a connection, its bytes are known. */
	connect_both();
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	close(datagrams);
	job_sockets_close(&sockets);
}

static void local_sockets_do_not_count(void **state)
{
	int ends[2];

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
	look_later(false);
	assert_false(traffic.has_datagrams);
	assert_int_equal(traffic.reason, 0);
	close(ends[0]);
	close(ends[1]);
	job_sockets_close(&sockets);
}

static void ends_between_samples_are_taken_in_time(void **state)
{
	int64_t now_ns, next_ns;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	look_later(false);
	close_both();
	now_ns = later_ns(NULL);
	/* The kernel frees a socket when the other end has answered. */
	for (int i = 0; i < 1000 && sockets.ended_count < 2; i++) {
		usleep(1000);
		next_ns = job_sockets_attend(&sockets, now_ns);
		assert_true(next_ns >= now_ns + 10 * NSEC_PER_MSEC && next_ns <= now_ns + NSEC_PER_SEC);
	}
	assert_int_equal(sockets.ended_count, 2);
	job_sockets_total(&sockets, &traffic);
	assert_int_equal(traffic.open_count, 0);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	job_sockets_close(&sockets);
	assert_int_equal(job_sockets_attend(&sockets, now_ns), INT64_MAX);
}

static void a_job_of_a_moment_is_over_before_the_first_look(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	job_sockets_open(&sockets, &root, false);
	if (sockets.ended_fd < 0)
		SKIP("the kernel has no sock_diag for this user");
	connect_both();
	close_both();
	await_unseen_ends();
	look_later(true);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.count, 0);
	assert_int_equal(traffic.unattributed_count, 2);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void high_descriptors_are_found_behind_a_gap(void **state)
{
	int high;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	connect_both();
	/* A shell leaves its script at 255. */
	high = fcntl(client, F_DUPFD_CLOEXEC, 255);
	assert_true(high >= 255);
	close(client);
	client = high;
	begin_sockets(false);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	EXPECT_BYTES(traffic.known.received, BYTES);
	job_sockets_close(&sockets);
}

static void a_server_that_listens_has_no_bytes(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	look_later(false);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 0);
	assert_int_equal(traffic.reason, 0);
	connect_both();
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	/* Its end adds nothing, and the connections stay. */
	close_end(&listener);
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, 2 * BYTES);
	job_sockets_close(&sockets);
}

static void a_kernel_that_refuses_gives_the_reason(void **state)
{
	(void)state;
	job_sockets_open(&sockets, &root, false);
	sockets.error = EPERM;
	look_later(true);
	assert_int_equal(traffic.reason, EPERM);
	assert_int_equal(job_sockets_attend(&sockets, 1), INT64_MAX);
	job_sockets_close(&sockets);
}

#define unit_test_of_machine(test) cmocka_unit_test_setup_teardown(test, begin_machine, end_machine)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_machine(each_byte_of_both_ends_counts),
		unit_test_of_machine(a_connection_from_before_the_start_counts_from_then_on),
		unit_test_of_machine(a_connection_that_ended_unseen_is_a_bound),
		unit_test_of_machine(connections_to_a_server_of_the_job_are_the_jobs),
		unit_test_of_machine(connections_of_others_never_count),
		unit_test_of_machine(datagrams_have_no_counter),
		unit_test_of_machine(local_sockets_do_not_count),
		unit_test_of_machine(ends_between_samples_are_taken_in_time),
		unit_test_of_machine(a_job_of_a_moment_is_over_before_the_first_look),
		unit_test_of_machine(high_descriptors_are_found_behind_a_gap),
		unit_test_of_machine(a_server_that_listens_has_no_bytes),
		unit_test_of_machine(a_kernel_that_refuses_gives_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
