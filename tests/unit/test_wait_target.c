/* Tests of src/job/waits/wait_target.c with real processes: the other ends of pipes and sockets. */
#include "burner.h"
#include "scratch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "job/waits/wait_chain.h"
#include "job/waits/wait_detail.h"
#include "job/waits/wait_target.h"

enum { TRIES = 5000 };

static struct root root;
static struct process_tree tree;
static struct found_wait found;
static char detail[WAIT_DETAIL_SIZE];
static pid_t children[2];
static size_t child_count;

static int begin_job(void **state)
{
	int error = scratch_enter(state);

	if (getenv("TEST_UNDER"))
		return error; /* not the kernel itself answers */
	tree = (struct process_tree){.root = &root, .with_children = true};
	child_count = 0;
	return error ? error : root_open(&root, NULL, NULL);
}

static int end_job(void **state)
{
	if (!getenv("TEST_UNDER")) {
		for (size_t i = 0; i < child_count; i++)
			end_child(children[i]);
		free(tree.members);
		free(tree.slots);
		root_close(&root);
	}
	return scratch_leave(state);
}

/* A member of the job that waits in the call of `wait`, which has two descriptors. The first one is the root. */
static pid_t add_child(void (*wait)(int, int), int one, int other)
{
	pid_t pid = fork_for_a_minute();
	struct member member = {.pid = pid, .parent_pid = getpid()};

	if (pid == 0) {
		wait(one, other);
		_exit(0);
	}
	assert_true(pid > 0);
	children[child_count++] = pid;
	if (child_count == 1)
		tree.root_pid = pid;
	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	return pid;
}

/* The children are on their way to the call for a moment. */
static void expect_wait(enum wait_class class, pid_t pid, const char *target)
{
	int error = 0;

	for (int i = 0; i < TRIES; i++) {
		if (wait_chain_end(&tree, &found, &error) && found.class == class && found.pid == pid &&
		    strcmp(found.target, target) == 0)
			break;
		usleep(1000);
	}
	assert_int_equal(found.class, class);
	assert_int_equal(found.pid, pid);
	assert_string_equal(found.target, target);
	wait_detail(&root, &found, detail);
}

static void read_from_first(int one, int other)
{
	char byte;

	close(other);
	(void)!read(one, &byte, 1);
}

static void fill_second(int one, int other)
{
	static char bytes[1 << 16];

	close(one);
	while (write(other, bytes, sizeof bytes) > 0)
		continue;
}

static void sleep_with_both(int one, int other)
{
	(void)one, (void)other;
	for (;;)
		sleep(60);
}

static void sleep_with_second(int one, int other)
{
	close(one);
	sleep_with_both(one, other);
}

static void sleep_with_first(int one, int other)
{
	close(other);
	sleep_with_both(one, other);
}

static void a_pipe_leads_to_the_process_at_its_other_end(void **state)
{
	int ends[2];
	pid_t reader, writer;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(pipe(ends), 0);
	reader = add_child(read_from_first, ends[0], ends[1]);
	expect_wait(WAIT_PIPE, reader, "a process outside the job");
	assert_string_equal(detail, "");
	assert_int_equal(found.fd, ends[0]);
	/* Another reader is not the other end. */
	writer = add_child(sleep_with_first, ends[0], ends[1]);
	expect_wait(WAIT_PIPE, reader, "a process outside the job");
	end_child(writer);
	tree.members[1].is_zombie = true;
	child_count--;
	writer = add_child(sleep_with_second, ends[0], ends[1]);
	expect_wait(WAIT_SLEEP, writer, "");
	close(ends[0]);
	close(ends[1]);
}

static void a_full_pipe_waits_for_its_reader(void **state)
{
	int ends[2];
	pid_t reader;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(pipe(ends), 0);
	expect_wait(WAIT_PIPE, add_child(fill_second, ends[0], ends[1]), "a process outside the job");
	reader = add_child(sleep_with_first, ends[0], ends[1]);
	expect_wait(WAIT_SLEEP, reader, "");
	close(ends[0]);
	close(ends[1]);
}

static void two_that_wait_for_each_other_wait_in_the_job(void **state)
{
	int there[2], back[2];
	pid_t second;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	/* Each keeps the end to which the other one listens. */
	assert_int_equal(pipe(there) | pipe(back), 0);
	(void)add_child(read_from_first, there[0], there[1]);
	close(there[0]);
	second = add_child(read_from_first, back[0], back[1]);
	close(there[1]);
	expect_wait(WAIT_PIPE, second, "another process of the job");
	close(back[0]);
	close(back[1]);
}

static struct sockaddr_in listen_here(int *ret_fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;

	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*ret_fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(*ret_fd, 8), 0);
	assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&address, &length), 0);
	return address;
}

static void accept_from_first(int one, int other)
{
	(void)other;
	(void)accept(one, NULL, NULL);
	pause();
}

static void a_connection_has_the_port_of_its_peer(void **state)
{
	int listener, connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = listen_here(&listener);
	char target[64], place[64];
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
	pid = add_child(read_from_first, connection, listener);
	snprintf(target, sizeof target, "TCP port %d of this machine", ntohs(address.sin_port));
	snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(address.sin_port));
	if (wait_copy_socket(pid, connection) < 0)
		SKIP("the kernel gives no copy of a socket");
	expect_wait(WAIT_SOCKET, pid, target);
	assert_string_equal(detail, place);
	close(listener);
	close(connection);
}

static void a_server_waits_for_a_client(void **state)
{
	int listener;
	struct sockaddr_in address = listen_here(&listener);
	char target[64], place[64];
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	pid = add_child(accept_from_first, listener, -1);
	if (wait_copy_socket(pid, listener) < 0)
		SKIP("the kernel gives no copy of a socket");
	snprintf(target, sizeof target, "a client of TCP port %d", ntohs(address.sin_port));
	snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(address.sin_port));
	expect_wait(WAIT_SOCKET, pid, target);
	assert_string_equal(detail, place);
	close(listener);
}

static void a_datagram_has_a_port_too(void **state)
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in other = {
		.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0xc0000207)};
	int six = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int four = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (connect(six, (struct sockaddr *)&address, sizeof address) < 0)
		SKIP("this machine has no IPv6");
	pid = add_child(read_from_first, six, -1);
	if (wait_copy_socket(pid, six) < 0)
		SKIP("the kernel gives no copy of a socket");
	expect_wait(WAIT_SOCKET, pid, "UDP port 9 of this machine");
	assert_string_equal(detail, "[::1]:9");
	if (connect(four, (struct sockaddr *)&other, sizeof other) == 0) {
		tree.root_pid = add_child(read_from_first, four, -1);
		expect_wait(WAIT_SOCKET, tree.root_pid, "UDP port 53 of another machine");
		assert_string_equal(detail, "192.0.2.7:53");
	}
	close(six);
	close(four);
}

static void a_local_socket_leads_to_its_server(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "db.sock"};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct member server = {.pid = getpid()};
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 8), 0);
	pid = add_child(accept_from_first, listener, -1);
	if (wait_copy_socket(pid, listener) < 0)
		SKIP("the kernel gives no copy of a socket");
	expect_wait(WAIT_SOCKET, pid, "a client of a unix socket");
	assert_string_equal(detail, "db.sock");
	assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
	tree.root_pid = add_child(read_from_first, connection, -1);
	expect_wait(WAIT_SOCKET, tree.root_pid, "a unix socket of another process");
	assert_string_equal(detail, "db.sock");
	/* As a process of the job, the server is at work: it runs this test. */
	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &server);
	assert_false(wait_chain_end(&tree, &found, &(int){0}));
	close(listener);
	close(connection);
}

static void a_name_without_a_file_begins_with_an_at_sign(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), before, copy;
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "rt-%d", (int)getpid());
	assert_int_equal(
		bind(listener, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1))),
		0);
	assert_int_equal(listen(listener, 8), 0);
	pid = add_child(accept_from_first, listener, -1);
	copy = wait_copy_socket(pid, listener);
	if (copy < 0)
		SKIP("the kernel gives no copy of a socket");
	close(copy);
	before = dup(listener);
	close(before);
	expect_wait(WAIT_SOCKET, pid, "a client of a unix socket");
	address.sun_path[0] = '@';
	assert_string_equal(detail, address.sun_path);
	/* No descriptor is left over. */
	assert_int_equal(dup(listener), before);
	close(before);
	close(listener);
}

/* An address of version 4 in the form of version 6. Other protocols have no address that tells anything. */
static void other_families_are_told_apart(void **state)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	int six = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), connected;
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(netlink >= 0);
	pid = add_child(read_from_first, netlink, -1);
	if (wait_copy_socket(pid, netlink) < 0)
		SKIP("the kernel gives no copy of a socket");
	expect_wait(WAIT_SOCKET, pid, "the kernel");
	assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.2", &address.sin6_addr), 1);
	connected = connect(six, (struct sockaddr *)&address, sizeof address);
	if (connected == 0) {
		tree.root_pid = add_child(read_from_first, six, -1);
		expect_wait(WAIT_SOCKET, tree.root_pid, "UDP port 9 of this machine");
	}
	close(six);
	close(netlink);
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin_job, end_job)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(a_pipe_leads_to_the_process_at_its_other_end),
		unit_test_of_job(a_full_pipe_waits_for_its_reader),
		unit_test_of_job(two_that_wait_for_each_other_wait_in_the_job),
		unit_test_of_job(a_connection_has_the_port_of_its_peer),
		unit_test_of_job(a_server_waits_for_a_client),
		unit_test_of_job(a_datagram_has_a_port_too),
		unit_test_of_job(a_local_socket_leads_to_its_server),
		unit_test_of_job(other_families_are_told_apart),
		unit_test_of_job(a_name_without_a_file_begins_with_an_at_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
