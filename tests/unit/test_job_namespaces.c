/* Tests of src/collect/job_namespaces.c: this test stands for the kernel's inodes of namespaces and the clocks of processes. */
#include "lone_collector.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/job_namespaces.h"

/* Processes are told by the numbers behind that of the first one, which is beyond all that the kernel gives. */
enum { FIRST_PID = 5000000, PIDS_MOST = 64, OURS = 1000 };

static ino_t inodes[PIDS_MOST]; /* by pid. 0: the process has exited */
static int64_t clocks_ns[PIDS_MOST];
static struct job_namespaces spaces;
static struct traffic known, shared;

/* The only path that is asked for is that of the namespace of a process. */
int stat(const char *path, struct stat *ret_status)
{
	int pid;

	if (sscanf(path, "/proc/%d/net/dev", &pid) != 1)
		return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret_status, 0);
	memset(ret_status, 0, sizeof *ret_status);
	ret_status->st_ino = pid == getpid() ? OURS : inodes[pid - FIRST_PID];

	errno = ENOENT;
	return ret_status->st_ino ? 0 : -1;
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int number = (int)~(unsigned)(clock >> 3) - FIRST_PID;

	if (clock >= 0 || number < 0 || number >= PIDS_MOST)
		return (int)syscall(SYS_clock_gettime, clock, ret_time);
	if (clocks_ns[number] < 0)
		return -1;
	*ret_time = (struct timespec){clocks_ns[number] / NSEC_PER_SEC, clocks_ns[number] % NSEC_PER_SEC};
	return 0;
}

static int begin(void **state)
{
	memset(inodes, 0, sizeof inodes);
	memset(clocks_ns, 0, sizeof clocks_ns);
	if (lone_enter(state) < 0)
		return -1;
	lone.root.live = true;
	lone.tree.root_pid = FIRST_PID + 5;
	return 0;
}

static int end(void **state)
{
	job_namespaces_close(&spaces);
	return lone_leave(state);
}

static void put_traffic(int number, const char *interfaces)
{
	char path[64], text[1000];

	snprintf(path, sizeof path, "proc/%d/net/dev", FIRST_PID + number);
	snprintf(text, sizeof text,
		 "Inter-|   Receive                                                |  Transmit\n"
		 " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
		 "drop fifo colls carrier compressed\n%s",
		 interfaces);
	put_below(path, text);
}

#define LINE(name, received, sent) name ": " received " 1 0 0 0 0 0 0 " sent " 1 0 0 0 0 0 0\n"

static void add_process(int number, ino_t namespace, const char *interfaces)
{
	inodes[number] = namespace;
	put_traffic(number, interfaces);
}

static void add_to_tree(int number)
{
	lone.tree.members = realloc(lone.tree.members, (lone.tree.count + 1) * sizeof *lone.tree.members);
	lone.tree.members[lone.tree.count++] = (struct member){.pid = FIRST_PID + number};
	/* Each pid has the slot of its number. */
	free(lone.tree.slots);
	lone.tree.slot_count = 256;
	lone.tree.slots = calloc(lone.tree.slot_count, sizeof *lone.tree.slots);
	for (size_t i = 0; i < lone.tree.count; i++) {
		size_t slot = (size_t)((uint32_t)lone.tree.members[i].pid * UINT32_C(2654435769)) & 255;

		while (lone.tree.slots[slot])
			slot = (slot + 1) & 255;
		lone.tree.slots[slot] = (uint32_t)i + 1;
	}
}

static void add_member_in(int number, ino_t namespace, const char *interfaces)
{
	add_process(number, namespace, interfaces);
	add_to_tree(number);
}

static void open_and_look(void)
{
	job_namespaces_open(&spaces, &lone.root);
	job_namespaces_look(&spaces, &lone.tree);
}

static void try_total(int64_t received, int64_t sent, int64_t shared_received, int64_t shared_sent)
{
	job_namespaces_total(&spaces, &known, &shared);
	assert_int_equal(known.received, received);
	assert_int_equal(known.sent, sent);
	assert_int_equal(shared.received, shared_received);
	assert_int_equal(shared.sent, shared_sent);
}

static void read_now(void)
{
	job_namespaces_read(&spaces, &lone.tree);
}

/* ---- traffic --------------------------------------------------------------------------------------- */

static void bytes_since_the_first_look_count_without_the_loopback(void **state)
{
	(void)state;
	add_member_in(5, 77, LINE("lo", "500", "500") LINE("eth0", "1000", "100") LINE("eth1", "10", "1"));
	open_and_look();
	assert_int_equal(spaces.count, 1);
	assert_true(spaces.seen);
	try_total(0, 0, 0, 0);
	put_traffic(5, LINE("lo", "900", "900") LINE("eth0", "1600", "130") LINE("eth1", "40", "6"));
	read_now();
	try_total(630, 35, 0, 0);
	/* An interface that is removed takes its count along. */
	put_traffic(5, LINE("eth0", "1700", "131"));
	read_now();
	try_total(690, 35, 0, 0);
}

/* The bytes of a bridge are those of its ports, too: where there is a default route, its interfaces count. */
static void the_interfaces_of_default_routes_count_alone(void **state)
{
	(void)state;
	put_below("proc/5000005/net/route",
		  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
		  "eth1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
		  "eth1\t00000000\t010200C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n"
		  "eth2\t00000000\t010200C0\t0003\t0\t0\t300\t00000000\t0\t0\t0\n");
	add_member_in(5, 77, LINE("eth0", "1000", "100") LINE("eth1", "10", "1") LINE("eth2", "0", "0"));
	open_and_look();
	assert_int_equal(spaces.namespaces[0].uplink_count, 2);
	put_traffic(5, LINE("eth0", "9000", "900") LINE("eth1", "12", "5") LINE("eth2", "100", "0"));
	read_now();
	try_total(102, 4, 0, 0);
}

/* ---- members --------------------------------------------------------------------------------------- */

static void only_namespaces_of_its_own_are_the_jobs(void **state)
{
	(void)state;
	add_member_in(5, OURS, LINE("eth0", "1", "1"));
	add_member_in(6, OURS, LINE("eth0", "1", "1"));
	open_and_look();
	assert_int_equal(spaces.own, OURS);
	assert_int_equal(spaces.count, 0);
	assert_false(spaces.seen);
	/* Two members in one, and another one. A zombie has none. */
	inodes[6] = 77;
	add_member_in(7, 77, LINE("eth0", "1", "1"));
	add_member_in(8, 78, LINE("eth0", "5", "5"));
	add_member_in(9, 79, LINE("eth0", "5", "5"));
	lone.tree.members[4].is_zombie = true;
	job_namespaces_look(&spaces, &lone.tree);
	assert_int_equal(spaces.count, 2);
	put_traffic(6, LINE("eth0", "11", "21"));
	put_traffic(7, LINE("eth0", "11", "21"));
	put_traffic(8, LINE("eth0", "105", "205"));
	read_now();
	try_total(110, 220, 0, 0);
}

static void a_captured_machine_has_none(void **state)
{
	(void)state;
	lone.root.live = false;
	add_member_in(5, 77, LINE("eth0", "1", "1"));
	open_and_look();
	assert_int_equal(spaces.count, 0);
	assert_true(spaces.is_off);
}

/* Eight members are looked at each time, in turn. */
static void many_members_are_looked_at_in_turn(void **state)
{
	(void)state;
	add_member_in(5, OURS, "");
	for (int i = 10; i < 29; i++)
		add_member_in(i, i == 28 ? 77 : OURS, LINE("eth0", "1", "1"));
	open_and_look();
	assert_int_equal(spaces.count, 0);
	job_namespaces_look(&spaces, &lone.tree);
	assert_int_equal(spaces.count, 0);
	assert_int_equal(spaces.next_member, 16);
	job_namespaces_look(&spaces, &lone.tree);
	assert_int_equal(spaces.count, 1);
}

static void eight_namespaces_are_followed(void **state)
{
	(void)state;
	add_member_in(5, 70, LINE("eth0", "1", "1"));
	for (int i = 10; i < 18; i++)
		add_member_in(i, (ino_t)(100 + i), LINE("eth0", "1", "1"));
	open_and_look();
	job_namespaces_look(&spaces, &lone.tree);
	assert_int_equal(spaces.count, 8);
}

static void a_namespace_with_unreadable_traffic_is_left_out(void **state)
{
	(void)state;
	add_member_in(5, OURS, "");
	inodes[6] = 77;
	add_to_tree(6);
	open_and_look();
	assert_int_equal(spaces.count, 0);
	/* A folder can be opened, and not be read. */
	put_below("proc/5000006/net/dev/x", "");
	job_namespaces_look(&spaces, &lone.tree);
	assert_int_equal(spaces.count, 0);
	assert_false(spaces.seen);
}

/* ---- ends ------------------------------------------------------------------------------------------ */

static void bytes_of_a_namespace_that_ended_stay(void **state)
{
	(void)state;
	add_member_in(5, 77, LINE("eth0", "10", "20"));
	add_member_in(6, 78, LINE("eth0", "100", "200"));
	add_member_in(7, 78, LINE("eth0", "100", "200"));
	open_and_look();
	assert_int_equal(spaces.count, 2);
	/* Another member is still there. */
	put_traffic(6, LINE("eth0", "101", "202"));
	inodes[6] = 0;
	read_now();
	assert_int_equal(spaces.count, 2);
	assert_int_equal(spaces.namespaces[1].pid, FIRST_PID + 7);
	put_traffic(6, LINE("eth0", "103", "206"));
	put_traffic(5, LINE("eth0", "15", "26"));
	inodes[7] = OURS;
	read_now();
	assert_int_equal(spaces.count, 1);
	try_total(3 + 5, 6 + 6, 0, 0);
	inodes[5] = 0;
	put_traffic(5, LINE("eth0", "16", "28"));
	read_now();
	assert_int_equal(spaces.count, 0);
	assert_true(spaces.seen);
	try_total(3 + 6, 6 + 8, 0, 0);
}

/* ---- other processes ------------------------------------------------------------------------------- */

/* The one that holds the namespace of a pod only sleeps. Once it has run, the bytes may be its own. */
static void bytes_are_shared_once_another_process_ran(void **state)
{
	(void)state;
	add_member_in(5, 77, LINE("eth0", "10", "20"));
	add_process(20, 77, "");
	add_process(21, 78, "");
	clocks_ns[20] = 3 * NSEC_PER_SEC + 7;
	open_and_look();
	assert_int_equal(spaces.namespaces[0].other_count, 1);
	assert_int_equal(spaces.namespaces[0].others[0].pid, FIRST_PID + 20);
	assert_int_equal(spaces.namespaces[0].others[0].clock_ns, 3 * NSEC_PER_SEC + 7);
	put_traffic(5, LINE("eth0", "15", "21"));
	read_now();
	try_total(5, 1, 0, 0);
	clocks_ns[20]++;
	put_traffic(5, LINE("eth0", "18", "25"));
	read_now();
	try_total(5, 1, 3, 4);
	/* It stays so, also when the namespace ends. */
	clocks_ns[20]--;
	inodes[5] = inodes[20] = 0;
	put_traffic(5, LINE("eth0", "20", "26"));
	read_now();
	assert_int_equal(spaces.count, 0);
	try_total(5, 1, 5, 5);
}

/* Others are looked for each ten seconds, and known ones are not taken twice. */
static void others_that_come_later_are_found(void **state)
{
	(void)state;
	add_member_in(5, 77, LINE("eth0", "10", "20"));
	add_process(20, 77, "");
	open_and_look();
	add_process(21, 77, "");
	lone.now_ns += NSEC_PER_SEC;
	read_now();
	assert_int_equal(spaces.namespaces[0].other_count, 1);
	lone.now_ns += 3600 * NSEC_PER_SEC;
	read_now();
	assert_int_equal(spaces.namespaces[0].other_count, 2);
	assert_true(spaces.namespaces[0].look_ns >= lone.now_ns + 10 * NSEC_PER_SEC);
	assert_false(spaces.namespaces[0].is_shared);
	/* A process that ended has no clock. */
	clocks_ns[21] = -1;
	read_now();
	assert_true(spaces.namespaces[0].is_shared);
}

static void more_than_sixteen_others_share_it_at_once(void **state)
{
	(void)state;
	add_member_in(5, 77, LINE("eth0", "10", "20"));
	for (int i = 20; i < 36; i++)
		add_process(i, 77, "");
	open_and_look();
	assert_int_equal(spaces.namespaces[0].other_count, 16);
	assert_false(spaces.namespaces[0].is_shared);
	add_process(40, 77, "");
	lone.now_ns += 3600 * NSEC_PER_SEC;
	read_now();
	assert_true(spaces.namespaces[0].is_shared);
	assert_int_equal(spaces.namespaces[0].other_count, 16);
}

#define SPACE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		SPACE_TEST(bytes_since_the_first_look_count_without_the_loopback),
		SPACE_TEST(the_interfaces_of_default_routes_count_alone),
		SPACE_TEST(only_namespaces_of_its_own_are_the_jobs),
		SPACE_TEST(a_captured_machine_has_none),
		SPACE_TEST(many_members_are_looked_at_in_turn),
		SPACE_TEST(eight_namespaces_are_followed),
		SPACE_TEST(a_namespace_with_unreadable_traffic_is_left_out),
		SPACE_TEST(bytes_of_a_namespace_that_ended_stay),
		SPACE_TEST(bytes_are_shared_once_another_process_ran),
		SPACE_TEST(others_that_come_later_are_found),
		SPACE_TEST(more_than_sixteen_others_share_it_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
