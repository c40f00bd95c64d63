/* Tests of src/job/network/socket_holders.c with sockets of this process. */
#include "burner.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "job/network/network_tuning.h"
#include "job/network/socket_holders.h"
#include "job/tree/process_files.h"

enum { SEEN_ROOM = 64 };

static struct root root;
static struct process_tree tree;
static struct socket_holders holders;

/* The visits of one search. */
static struct {
	uint64_t inodes[SEEN_ROOM];
	enum socket_protocol protocols[SEEN_ROOM];
	size_t count;
} seen;

static int begin(void **state)
{
	(void)state;
	tree = (struct process_tree){.root = &root, .cgroup_folder = -1};
	holders = (struct socket_holders){0};
	return root_open(&root, NULL, NULL);
}

static int end(void **state)
{
	(void)state;
	free(tree.members);
	free(tree.slots);
	socket_holders_done(&holders);
	root_close(&root);
	return 0;
}

static struct member *add_member(pid_t pid)
{
	struct member member = {.pid = pid, .cpu = NEW_MEMBER_CPU};

	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	tree.root_pid = pid;
	return &tree.members[tree.count - 1];
}

static void keep_visit(void *context, uint64_t inode, enum socket_protocol protocol)
{
	(void)context;
	assert_true(seen.count < SEEN_ROOM);
	seen.inodes[seen.count] = inode;
	seen.protocols[seen.count++] = protocol;
}

static int64_t search(int64_t allowance_ns)
{
	seen.count = 0;
	return socket_holders_search(&holders, &tree, allowance_ns, keep_visit, NULL);
}

static uint64_t inode_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_ino;
}

/* The protocol that the last search told for a descriptor, or -1. */
static int told(int fd)
{
	for (size_t i = 0; i < seen.count; i++)
		if (seen.inodes[i] == inode_of(fd))
			return (int)seen.protocols[i];
	return -1;
}

static void each_protocol_is_told_by_its_name(void **state)
{
	static const struct {
		int domain, type, protocol, told;
	} CASES[] = {
		{AF_INET, SOCK_STREAM, 0, SOCKET_TCP},
		{AF_INET6, SOCK_STREAM, 0, SOCKET_TCP},
		{AF_INET, SOCK_DGRAM, 0, SOCKET_DATAGRAM},
		{AF_INET6, SOCK_DGRAM, 0, SOCKET_DATAGRAM},
		{AF_INET, SOCK_RAW, 1, SOCKET_DATAGRAM},
		{AF_INET, SOCK_DGRAM, 1, SOCKET_DATAGRAM},
		{AF_INET, SOCK_STREAM, 132, SOCKET_DATAGRAM},
		{AF_UNIX, SOCK_STREAM, 0, -1},
		{AF_UNIX, SOCK_DGRAM, 0, -1},
		{AF_NETLINK, SOCK_RAW, 0, -1},
		{AF_PACKET, SOCK_DGRAM, 0, SOCKET_DATAGRAM},
		{AF_XDP, SOCK_RAW, 0, SOCKET_DATAGRAM},
		{AF_VSOCK, SOCK_STREAM, 0, -1},
		{AF_ALG, SOCK_SEQPACKET, 0, -1},
	};
	int fds[sizeof CASES / sizeof *CASES];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		fds[i] = socket(CASES[i].domain, CASES[i].type | SOCK_CLOEXEC, CASES[i].protocol);
	add_member(getpid());
	search(-1);
	/* Files are left out. */
	for (size_t i = 0; i < seen.count; i++)
		assert_true(seen.inodes[i] != 0);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		/* This user or kernel may have none of this kind. */
		if (fds[i] >= 0)
			assert_int_equal(told(fds[i]), CASES[i].told);
	/* Later only TCP is told again. */
	search(-1);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		if (fds[i] < 0)
			continue;
		assert_int_equal(told(fds[i]), CASES[i].told == SOCKET_TCP ? SOCKET_TCP : -1);
		close(fds[i]);
	}
}

static void a_member_that_did_not_run_is_not_searched_again(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct member *member;

	(void)state;
	member = add_member(getpid());
	for (member->cpu.looked_ns = 0; member->cpu.looked_ns < 2; member->cpu.looked_ns++) {
		search(-1);
		assert_int_equal(told(fd), SOCKET_TCP);
		search(-1);
		assert_int_equal(seen.count, 0);
		assert_true(holders.is_complete);
	}
	member->cpu.looked_ns = 6;
	search(-1);
	assert_int_equal(told(fd), SOCKET_TCP);
	/* Whether it ran is unknown. */
	member->cpu.looked_ns = -1;
	search(-1);
	assert_int_equal(told(fd), SOCKET_TCP);
	search(-1);
	assert_int_equal(told(fd), SOCKET_TCP);
	member->is_zombie = true;
	search(-1);
	assert_int_equal(seen.count, 0);
	close(fd);
}

static void a_new_zombie_is_not_searched(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	add_member(getpid())->is_zombie = true;
	assert_int_equal(search(SEARCHES_SAVED_NS), 0);
	assert_int_equal(seen.count, 0);
	assert_true(holders.is_complete);
	close(fd);
}

static void without_an_allowance_no_member_is_searched(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	add_member(getpid());
	(void)search(0);
	assert_int_equal(seen.count, 0);
	assert_false(holders.is_complete);
	assert_true(search(NSEC_PER_SEC) > 0);
	assert_int_equal(told(fd), SOCKET_TCP);
	assert_true(holders.is_complete);
	/* Later searches share it as well. */
	(void)search(0);
	assert_int_equal(seen.count, 0);
	assert_false(holders.is_complete);
	close(fd);
}

static void one_search_comes_to_a_new_member_once(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t visits = 0;

	(void)state;
	add_member(getpid())->cpu.looked_ns = -1;
	search(-1);
	for (size_t i = 0; i < seen.count; i++)
		visits += seen.inodes[i] == inode_of(fd);
	assert_int_equal(visits, 1);
	close(fd);
}

/* An attached recorder searches its members before the first pass, which reads their clocks. */
static void a_sleeping_member_that_was_searched_before_the_first_look_is_not_searched_again(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t sleeper = start_burner(0);
	struct member *member;

	(void)state;
	wait_until_asleep(sleeper);
	member = add_member(sleeper);
	search(-1);
	assert_int_equal(told(fd), SOCKET_TCP);
	member->cpu.looked_ns = process_clock_ns(sleeper);
	search(-1);
	assert_int_equal(seen.count, 0);
	end_child(sleeper);
	close(fd);
}

static void the_protocols_of_so_many_sockets_are_remembered(void **state)
{
	int first, second;

	(void)state;
	add_member(getpid())->cpu.looked_ns = -1;
	search(-1);
	for (uint64_t i = 1; holders.seen.count < SEEN_MOST - 1; i++)
		assert_int_equal(id_table_put(&holders.seen, UINT64_MAX - i, SOCKET_LOCAL), 0);
	first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	search(-1);
	assert_int_equal(told(first), SOCKET_TCP);
	assert_int_equal(holders.seen.count, SEEN_MOST);
	/* One more, and all are told anew. */
	close(first);
	second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	search(-1);
	assert_int_equal(told(second), SOCKET_TCP);
	assert_true(holders.seen.count < SEEN_ROOM);
	close(second);
}

/* Members that the allowance did not cover come first the next time. */
static void a_search_goes_on_where_the_last_one_ended(void **state)
{
	pid_t other = start_burner(0);

	(void)state;
	add_member(other);
	add_member(getpid());
	search(-1);
	assert_int_equal(holders.next, 2);
	(void)search(0);
	assert_int_equal(holders.next, 2);
	search(-1);
	assert_int_equal(holders.next, 4);
	end_child(other);
}

static void a_member_that_is_gone_denies_nothing(void **state)
{
	pid_t other = start_burner(0);

	(void)state;
	add_member(other);
	end_child(other);
	search(-1);
	assert_int_equal(seen.count, 0);
	assert_false(holders.denied);
}

enum { NO_OTHER_USER = 77 };

/* Whether a user who may not read its descriptors takes those of a process for denied. */
static int denied_to_another_user(pid_t pid, int64_t start_ticks)
{
	pid_t child = fork_for_a_minute();
	int status;

	if (child == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(NO_OTHER_USER);
		add_member(pid)->start_ticks = start_ticks;
		search(-1);
		_exit(seen.count ? 2 : holders.denied);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void descriptors_that_may_not_be_read_are_denied(void **state)
{
	struct proc_pid_stat stat;
	pid_t job;
	int denied;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (geteuid())
		SKIP("needs root");
	job = start_burner(0);
	assert_int_equal(read_proc_pid_stat(&root, job, &stat), 0);
	denied = denied_to_another_user(job, stat.start_ticks);
	if (denied == NO_OTHER_USER) {
		end_child(job);
		SKIP("this user may not become another");
	}
	assert_int_equal(denied, 1);
	/* Another process has its number now. */
	assert_int_equal(denied_to_another_user(job, stat.start_ticks - 1), 0);
	kill(job, SIGKILL);
	while (!proc_pid_stat_is_exiting(&stat))
		assert_int_equal(read_proc_pid_stat(&root, job, &stat), 0);
	assert_int_equal(denied_to_another_user(job, stat.start_ticks), 0);
	waitpid(job, NULL, 0);
}

static void keep_own(void *context, int fd, uint64_t inode)
{
	(void)context;
	assert_int_equal(inode, inode_of(fd));
	keep_visit(NULL, inode, SOCKET_TCP);
}

/* How often the search of our own descriptors visits one. */
static int own_visits(int fd)
{
	int times = 0;

	seen.count = 0;
	socket_holders_search_self(&root, keep_own, NULL);
	for (size_t i = 0; i < seen.count; i++)
		times += seen.inodes[i] == inode_of(fd);
	return times;
}

static void own_sockets_of_the_internet_are_visited(void **state)
{
	int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    file = open("/dev/null", O_RDONLY | O_CLOEXEC),
	    four = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(own_visits(four), 1);
	assert_int_equal(own_visits(local), 0);
	assert_int_equal(own_visits(file), 0);
	if (six >= 0)
		assert_int_equal(own_visits(six), 1);
	close(local);
	close(file);
	close(four);
	close(six);
}

/* Up to seven closed numbers in a row are tried. Behind eight, the folder is listed, from there on. */
static void own_sockets_behind_a_gap_are_visited_once(void **state)
{
	int first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	for (int gap = 1; gap <= 3 * CLOSED_MOST; gap++) {
		int fd = fcntl(first, F_DUPFD_CLOEXEC, first + gap + 1), other;

		/* A socket of its own, not another number of the first. */
		assert_true(fd > first);
		other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(dup3(other, fd, O_CLOEXEC), fd);
		close(other);
		assert_int_equal(own_visits(fd), 1);
		assert_int_equal(own_visits(first), 1);
		close(fd);
	}
	close(first);
}

static void an_own_socket_may_have_the_first_number(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), input = fcntl(0, F_DUPFD_CLOEXEC, 3), visits;

	(void)state;
	assert_int_equal(dup2(fd, 0), 0);
	close(fd);
	visits = own_visits(0);
	assert_int_equal(input < 0 ? close(0) : dup2(input, 0), 0);
	close(input);
	assert_int_equal(visits, 1);
}

#define unit_test_of_holders(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_holders(each_protocol_is_told_by_its_name),
		unit_test_of_holders(a_member_that_did_not_run_is_not_searched_again),
		unit_test_of_holders(a_new_zombie_is_not_searched),
		unit_test_of_holders(without_an_allowance_no_member_is_searched),
		unit_test_of_holders(one_search_comes_to_a_new_member_once),
		unit_test_of_holders(
			a_sleeping_member_that_was_searched_before_the_first_look_is_not_searched_again),
		unit_test_of_holders(the_protocols_of_so_many_sockets_are_remembered),
		unit_test_of_holders(a_search_goes_on_where_the_last_one_ended),
		unit_test_of_holders(a_member_that_is_gone_denies_nothing),
		unit_test_of_holders(descriptors_that_may_not_be_read_are_denied),
		unit_test_of_holders(own_sockets_of_the_internet_are_visited),
		unit_test_of_holders(own_sockets_behind_a_gap_are_visited_once),
		unit_test_of_holders(an_own_socket_may_have_the_first_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
