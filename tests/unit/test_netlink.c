/* Tests of src/kernel/netlink.c: messages and attributes of any length, and sockets where descriptors are few. */
#include "in_child.h"
#include "kernel.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include "kernel/netlink.h"

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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_follow_each_other),
		cmocka_unit_test(a_message_has_its_header_and_ends_within_the_datagram),
		cmocka_unit_test(an_attribute_has_its_header_and_ends_within_the_message),
		cmocka_unit_test(few_descriptors_are_left_to_the_outputs),
		cmocka_unit_test(only_the_kernel_is_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
