/* Tests of src/kernel/proc_events.c. The messages were recorded on Linux 6.18 (little endian). */
#include "kernel.h"

#include "kernel/netlink.h"
#include "kernel/proc_events.h"

/* sh (2917) forks 2919, 2919 calls exec, and its child 2920 exits. */
static const char FORK[] = "4c0000000300000025eb040000000000010000000100000025eb0400000000002800000001000000"
			   "00000000182b32b6f0190000650b0000650b0000670b0000670b00000000000000000000";
static const char EXEC[] = "4c0000000300000026eb040000000000010000000100000026eb0400000000002800000002000000"
			   "0000000092648fb6f0190000670b0000670b000000000000000000000000000000000000";
static const char EXIT[] = "4c0000000300000028eb040000000000010000000100000028eb0400000000002800000000000080"
			   "00000000af6a9cb6f0190000680b0000680b00000000000011000000670b0000670b0000";

static size_t unhex(const char *hex, char *ret_bytes)
{
	size_t length = strlen(hex) / 2;

	for (size_t i = 0; i < length; i++) {
		unsigned byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		ret_bytes[i] = (char)byte;
	}
	return length;
}

static bool first_of(const char *bytes, size_t length, struct proc_event *event)
{
	struct scan messages = scan_bytes(bytes, length);

	return proc_events_next(&messages, event);
}

static void recorded_messages_become_events(void **state)
{
	char bytes[512];
	size_t length = unhex(FORK, bytes);
	struct scan messages;
	struct proc_event event;

	(void)state;
	length += unhex(EXEC, bytes + length);
	length += unhex(EXIT, bytes + length);
	messages = scan_bytes(bytes, length);
	assert_true(proc_events_next(&messages, &event));
	assert_int_equal(event.kind, PROC_EVENT_FORKED);
	assert_int_equal(event.pid, 2919);
	assert_int_equal(event.parent_pid, 2917);
	assert_int_equal(event.monotonic_ns, 0x19f0b6322b18);
	assert_false(event.is_thread);
	assert_true(proc_events_next(&messages, &event));
	assert_int_equal(event.kind, PROC_EVENT_EXECED);
	assert_int_equal(event.pid, 2919);
	assert_true(proc_events_next(&messages, &event));
	assert_int_equal(event.kind, PROC_EVENT_EXITED);
	assert_int_equal(event.pid, 2920);
	assert_int_equal(event.parent_pid, 2919);
	assert_int_equal(event.wait_status, 0);
	assert_false(proc_events_next(&messages, &event));
}

static void a_thread_is_told_from_a_process(void **state)
{
	char bytes[512];
	size_t length = unhex(EXIT, bytes);
	struct proc_event event;

	(void)state;
	bytes[52]++;
	assert_true(first_of(bytes, length, &event));
	assert_true(event.is_thread);
	assert_int_equal(event.pid, 2920);
}

static void messages_of_others_are_passed_over(void **state)
{
	/* Another connector, an unknown kind, a pid of 0, a negative pid. */
	static const struct {
		size_t offset;
		char value;
	} ODD[] = {{16, 2}, {36, 8}, {37, 1}, {59, (char)0x80}};
	char bytes[512];
	size_t length = unhex(EXIT, bytes);
	struct proc_event event;

	(void)state;
	for (size_t i = 0; i < sizeof ODD / sizeof ODD[0]; i++) {
		char before = bytes[ODD[i].offset];

		bytes[ODD[i].offset] = ODD[i].value;
		assert_false(first_of(bytes, length, &event));
		bytes[ODD[i].offset] = before;
	}
	memset(bytes + 52, 0, 8);
	assert_false(first_of(bytes, length, &event));
}

static void expect_no_event(const char *bytes, size_t length)
{
	struct proc_event event;

	assert_false(first_of(bytes, length, &event));
}

static void every_beginning_of_a_message_is_harmless(void **state)
{
	char bytes[512];
	size_t length = unhex(EXIT, bytes);

	(void)state;
	each_beginning(bytes, length, expect_no_event);
}

/* Where the kernel delivers, our own child's fork and exit must come. */
static void a_child_is_heard_where_the_kernel_delivers(void **state)
{
	int fd = proc_events_open(1 << 18);
	bool forked = false, exited = false;
	char bytes[8][256];
	struct netlink_batch batch = {.bytes = bytes[0], .datagram_bytes = sizeof bytes[0], .capacity = 8};
	pid_t child;
	int count;

	(void)state;
	if (fd < 0)
		skip();
	child = reaped_child();
	while ((count = netlink_receive_batch(fd, &batch)) > 0)
		for (int i = 0; i < count; i++) {
			struct scan messages = netlink_datagram(&batch, i);
			struct proc_event event;

			while (proc_events_next(&messages, &event)) {
				forked |= event.kind == PROC_EVENT_FORKED && event.pid == child &&
					  event.parent_pid == getpid();
				exited |= event.kind == PROC_EVENT_EXITED && event.pid == child;
			}
		}
	close(fd);
	/* The socket may have overflowed on a machine that forks very much. */
	if (count == -ENOBUFS)
		skip();
	assert_true(forked && exited);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_messages_become_events),
		cmocka_unit_test(a_thread_is_told_from_a_process),
		cmocka_unit_test(messages_of_others_are_passed_over),
		cmocka_unit_test(every_beginning_of_a_message_is_harmless),
		cmocka_unit_test(a_child_is_heard_where_the_kernel_delivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
