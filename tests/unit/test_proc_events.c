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

/* A message of one kind, with six words: struct cn_msg with the numbers 1 and 1, and struct proc_event. */
static size_t build_event(uint32_t what, const uint32_t data[6], char bytes[76])
{
	const uint32_t words[] = {76, 3, 0, 0, 1, 1, 0, 8, 40, what, 0, 5, 0};

	memcpy(bytes, words, sizeof words);
	memcpy(bytes + sizeof words, data, 24);
	return 76;
}

static bool event_of(uint32_t what, const uint32_t data[6], struct proc_event *ret_event)
{
	char bytes[76];

	return first_of(bytes, build_event(what, data, bytes), ret_event);
}

enum { KIND_FORK = 1, KIND_EXEC = 2, KIND_NAME = 0x200 };
#define KIND_EXIT UINT32_C(0x80000000)

static void each_kind_has_its_fields(void **state)
{
	struct proc_event event;

	(void)state;
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		skip();
	assert_true(event_of(KIND_FORK, (const uint32_t[6]){10, 11, 12, 13, 0, 0}, &event));
	assert_true(event.kind == PROC_EVENT_FORKED && event.pid == 13 && event.parent_pid == 11 &&
		    event.is_thread);
	assert_int_equal(event.monotonic_ns, 5);
	assert_true(event_of(KIND_EXEC, (const uint32_t[6]){20, 21, 22, 23, 24, 25}, &event));
	assert_true(event.kind == PROC_EVENT_EXECED && event.pid == 21 && event.parent_pid == 0 &&
		    !event.is_thread);
	assert_true(event_of(KIND_NAME, (const uint32_t[6]){30, 31, 32, 33, 34, 35}, &event));
	assert_true(event.kind == PROC_EVENT_RENAMED && event.pid == 31 && event.parent_pid == 0 &&
		    event.is_thread);
	assert_true(event_of(KIND_EXIT, (const uint32_t[6]){40, 40, 256, 17, 44, 45}, &event));
	assert_true(event.kind == PROC_EVENT_EXITED && event.pid == 40 && event.parent_pid == 45 &&
		    !event.is_thread);
	assert_int_equal(event.wait_status, 256);
	/* Before Linux 4.18 an exit does not name the parent. */
	assert_true(event_of(KIND_EXIT, (const uint32_t[6]){40, 41, 0, 17, 0, 0}, &event));
	assert_true(event.is_thread && event.parent_pid == 0);
	assert_true(event_of(0, (const uint32_t[6]){22}, &event));
	assert_true(event.kind == PROC_EVENT_ACK && event.pid == 0 && event.error == 22);
	assert_int_equal(event.request, 7);
}

/* A number of a process is from 1 to 2^31 - 1. */
static void an_event_needs_each_of_its_process_ids(void **state)
{
	static const struct {
		uint32_t what;
		size_t words[3];
		size_t count;
	} KINDS[] = {{KIND_FORK, {1, 2, 3}, 3},
		     {KIND_EXEC, {0, 1}, 2},
		     {KIND_NAME, {0, 1}, 2},
		     {KIND_EXIT, {0, 1}, 2}};
	static const uint32_t ODD[] = {0, UINT32_C(0x80000000), UINT32_MAX};
	struct proc_event event;

	(void)state;
	for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
		for (size_t j = 0; j < KINDS[i].count; j++) {
			uint32_t data[6] = {1, 2, 3, 4, 5, 6};

			data[KINDS[i].words[j]] = INT32_MAX;
			assert_true(event_of(KINDS[i].what, data, &event));
			for (size_t k = 0; k < 3; k++) {
				data[KINDS[i].words[j]] = ODD[k];
				assert_false(event_of(KINDS[i].what, data, &event));
			}
		}
	assert_true(event_of(KIND_EXIT, (const uint32_t[6]){1, 1, 0, 0, 0, INT32_MAX}, &event));
	assert_int_equal(event.parent_pid, INT32_MAX);
	assert_true(event_of(KIND_EXIT, (const uint32_t[6]){1, 1, 0, 0, 0, UINT32_C(0x80000000)}, &event));
	assert_int_equal(event.parent_pid, 0);
}

/* The value and the index are those of process events, and the fixed part is whole. */
static void a_message_is_of_process_events_if_both_numbers_are(void **state)
{
	const uint32_t data[6] = {7, 7};
	struct proc_event event;
	char bytes[2 * 76];
	struct scan messages;
	uint32_t length = 52;

	(void)state;
	build_event(0, data, bytes);
	bytes[16] = 2;
	assert_false(first_of(bytes, 76, &event));
	build_event(0, data, bytes);
	bytes[20] = 2;
	assert_false(first_of(bytes, 76, &event));
	/* An answer without its error has none. */
	build_event(0, data, bytes);
	memcpy(bytes, &length, sizeof length);
	assert_true(first_of(bytes, 52, &event));
	assert_int_equal(event.error, 0);
	length--;
	memcpy(bytes, &length, sizeof length);
	assert_false(first_of(bytes, 51, &event));
	/* The next message follows one that is passed over. */
	build_event(4, data, bytes);
	build_event(KIND_EXEC, data, bytes + 76);
	messages = scan_bytes(bytes, sizeof bytes);
	assert_true(proc_events_next(&messages, &event));
	assert_int_equal(event.kind, PROC_EVENT_EXECED);
	assert_false(proc_events_next(&messages, &event));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_messages_become_events),
		cmocka_unit_test(a_thread_is_told_from_a_process),
		cmocka_unit_test(messages_of_others_are_passed_over),
		cmocka_unit_test(every_beginning_of_a_message_is_harmless),
		cmocka_unit_test(a_child_is_heard_where_the_kernel_delivers),
		cmocka_unit_test(each_kind_has_its_fields),
		cmocka_unit_test(an_event_needs_each_of_its_process_ids),
		cmocka_unit_test(a_message_is_of_process_events_if_both_numbers_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
