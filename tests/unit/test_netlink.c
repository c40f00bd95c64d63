/* Tests of src/kernel/netlink.c: messages and attributes of any length, and sockets where descriptors are few. */
#include "in_child.h"
#include "kernel.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include "kernel/netlink.h"
#include <sys/un.h>

enum { PROTOCOL_SOCK_DIAG = 4 };

static void lay_message(char *at, uint32_t length, uint16_t type)
{
	struct netlink_header header = {.length = length, .type = type};

	memcpy(at, &header, sizeof header);
}

/* Messages are padded to 4 bytes, and the last one may lack its padding. */
static void messages_follow_each_other(void **state)
{
	char bytes[41] = {0};
	struct scan messages = scan_bytes(bytes, sizeof bytes), body;
	uint16_t type = 0;

	(void)state;
	lay_message(bytes, 18, 7);
	lay_message(bytes + 20, 21, 8);
	bytes[16] = 'a';
	bytes[40] = 'b';
	assert_true(netlink_next_message(&messages, &type, &body));
	assert_true(type == 7 && scan_left(&body) == 2 && body.at[0] == 'a');
	assert_true(netlink_next_message(&messages, &type, &body));
	assert_true(type == 8 && scan_left(&body) == 5 && body.at[4] == 'b');
	assert_int_equal(scan_left(&messages), 0);
	assert_false(netlink_next_message(&messages, &type, &body));
}

static bool takes_message(uint32_t told, size_t there)
{
	char bytes[64] = {0};
	struct scan messages = scan_bytes(bytes, there), body;
	uint16_t type;

	lay_message(bytes, told, 7);
	return netlink_next_message(&messages, &type, &body);
}

static void a_message_has_its_header_and_ends_within_the_datagram(void **state)
{
	(void)state;
	assert_true(takes_message(16, 16));
	assert_false(takes_message(16, 15));
	assert_false(takes_message(15, 16));
	assert_false(takes_message(0, 64));
	assert_true(takes_message(64, 64));
	assert_false(takes_message(65, 64));
	assert_false(takes_message(UINT32_MAX, 64));
}

static bool takes_attribute(uint16_t told, size_t there, size_t *ret_value)
{
	char bytes[16] = {0};
	struct scan attributes = scan_bytes(bytes, there), value;
	uint16_t type;

	memcpy(bytes, &told, sizeof told);
	bytes[2] = 3;
	if (!netlink_next_attribute(&attributes, &type, &value))
		return false;
	assert_int_equal(type, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 3 : 3 << 8);
	*ret_value = scan_left(&value);
	return true;
}

static void an_attribute_has_its_header_and_ends_within_the_message(void **state)
{
	size_t value = 99;

	(void)state;
	assert_true(takes_attribute(4, 4, &value));
	assert_int_equal(value, 0);
	assert_true(takes_attribute(16, 16, &value));
	assert_int_equal(value, 12);
	assert_false(takes_attribute(4, 3, &value));
	assert_false(takes_attribute(3, 16, &value));
	assert_false(takes_attribute(0, 16, &value));
	assert_false(takes_attribute(17, 16, &value));
}

static int open_with_few(void)
{
	struct rlimit limit;
	int last;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 63;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	if (netlink_open(PROTOCOL_SOCK_DIAG, 0) != -EMFILE)
		return 2;
	limit.rlim_cur = 64;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 3;
	last = netlink_open(PROTOCOL_SOCK_DIAG, 0);
	return last == -EMFILE ? 4 : 0;
}

static void few_descriptors_are_left_to_the_outputs(void **state)
{
	(void)state;
	assert_int_equal(in_child(open_with_few), 0);
}

/* Another program's datagram is passed over. */
static void only_the_kernel_is_heard(void **state)
{
	struct netlink_address to = {.family = AF_NETLINK};
	socklen_t length = sizeof to;
	int fd = netlink_open(PROTOCOL_SOCK_DIAG, 0), other = netlink_open(PROTOCOL_SOCK_DIAG, 0);
	char bytes[64] = "text";

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (fd < 0 || other < 0)
		SKIP("this machine has no such sockets");
	assert_int_equal(netlink_receive(fd, bytes, sizeof bytes), -EAGAIN);
	assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&to, &length), 0);
	assert_true(to.port != 0);
	if (sendto(other, bytes, 4, 0, (struct sockaddr *)(void *)&to, sizeof to) == 4)
		assert_int_equal(netlink_receive(fd, bytes, sizeof bytes), -EAGAIN);
	close(fd);
	close(other);
	assert_int_equal(netlink_send(fd, bytes, 4), -EBADF);
	assert_int_equal(netlink_receive(fd, bytes, 4), -EBADF);
}

/* The kernel's end has no address here. Another program's has one, so that its datagram counts as theirs. */
static void a_batch_has_the_datagrams_of_the_kernel_in_their_order(void **state)
{
	struct netlink_batch batch = {.capacity = 3, .datagram_bytes = 8};
	struct sockaddr_un other = {.sun_family = AF_UNIX, .sun_path = "/tmp/rt-batch-XXXXXX"};
	char bytes[3 * 8 + 1];
	int ends[2], named = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	batch.bytes = bytes;
	memset(bytes, '#', sizeof bytes);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(netlink_receive_batch(ends[0], &batch), -EAGAIN);
	assert_int_equal(write(ends[1], "first", 5), 5);
	assert_int_equal(write(ends[1], "that is too long", 16), 16);
	assert_int_equal(write(ends[1], "third...", 8), 8);
	assert_int_equal(write(ends[1], "last", 4), 4);
	assert_int_equal(netlink_receive_batch(ends[0], &batch), 3);
	for (int i = 0; i < 3; i++) {
		static const char *const WANTED[] = {"first", "", "third..."};
		struct scan datagram = netlink_datagram(&batch, i);

		assert_scan_equal(&datagram, WANTED[i]);
	}
	assert_int_equal(bytes[24], '#');
	assert_int_equal(netlink_receive_batch(ends[0], &batch), 1);
	assert_int_equal(batch.lengths[0], 4);
	assert_int_equal(netlink_receive_batch(-1, &batch), -EBADF);
	assert_int_equal(write(ends[1], "last", 4), 4);
	assert_int_equal(netlink_receive(ends[0], bytes, sizeof bytes), 4);
	close(ends[0]);
	close(ends[1]);
	/* From and to named sockets. */
	assert_int_equal(mkstemp(other.sun_path) >= 0, 1);
	unlink(other.sun_path);
	assert_int_equal(bind(named, (struct sockaddr *)&other, sizeof other), 0);
	assert_int_equal(sendto(named, "other", 5, 0, (struct sockaddr *)&other, sizeof other), 5);
	assert_int_equal(netlink_receive_batch(named, &batch), 1);
	assert_int_equal(batch.lengths[0], 0);
	assert_int_equal(sendto(named, "other", 5, 0, (struct sockaddr *)&other, sizeof other), 5);
	assert_int_equal(netlink_receive(named, bytes, sizeof bytes), -EAGAIN);
	unlink(other.sun_path);
	close(named);
}

static void numbers_end_with_the_message(void **state)
{
	static const unsigned char BYTES[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct scan bytes = scan_bytes((const char *)BYTES, 8);
	uint64_t wanted;

	(void)state;
	memcpy(&wanted, BYTES, 8);
	assert_true(netlink_u64(&bytes, 0) == wanted && netlink_u64(&bytes, 1) == 0);
	wanted = 0;
	memcpy(&wanted, BYTES + 4, 4);
	assert_true(netlink_u32(&bytes, 4) == *(const uint32_t *)(const void *)(BYTES + 4) &&
		    netlink_u32(&bytes, 5) == 0);
	assert_true(netlink_u16(&bytes, 6) == *(const uint16_t *)(const void *)(BYTES + 6) &&
		    netlink_u16(&bytes, 7) == 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_follow_each_other),
		cmocka_unit_test(a_message_has_its_header_and_ends_within_the_datagram),
		cmocka_unit_test(an_attribute_has_its_header_and_ends_within_the_message),
		cmocka_unit_test(few_descriptors_are_left_to_the_outputs),
		cmocka_unit_test(only_the_kernel_is_heard),
		cmocka_unit_test(a_batch_has_the_datagrams_of_the_kernel_in_their_order),
		cmocka_unit_test(numbers_end_with_the_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
