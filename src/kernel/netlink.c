/* Netlink sockets and messages. See netlink.h. */
#include "kernel/netlink.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

static struct scan step_over(struct scan *rest, size_t length)
{
	size_t padded = (length + 3) & ~(size_t)3;
	struct scan part = {rest->at, rest->at + length};

	rest->at += padded < scan_left(rest) ? padded : scan_left(rest);
	return part;
}

bool netlink_next_message(struct scan *messages, uint16_t *ret_type, struct scan *ret_body)
{
	uint32_t length = netlink_u32(messages, 0);

	if (scan_left(messages) < NETLINK_HEADER_BYTES || length < NETLINK_HEADER_BYTES ||
	    length > scan_left(messages))
		return false;
	*ret_type = (uint16_t)netlink_u16(messages, 4);
	*ret_body = step_over(messages, length);
	ret_body->at += NETLINK_HEADER_BYTES;
	return true;
}

bool netlink_next_attribute(struct scan *attributes, uint16_t *ret_type, struct scan *ret_value)
{
	enum { HEADER_BYTES = 4 };
	size_t length = (size_t)netlink_u16(attributes, 0);

	if (scan_left(attributes) < HEADER_BYTES || length < HEADER_BYTES || length > scan_left(attributes))
		return false;
	*ret_type = (uint16_t)netlink_u16(attributes, 2);
	*ret_value = step_over(attributes, length);
	ret_value->at += HEADER_BYTES;
	return true;
}

/* Below it, the outputs need every descriptor. */
static const rlim_t DESCRIPTORS_LEAST = 64;

static bool few_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_LEAST;
}

int netlink_open(int protocol, uint32_t groups)
{
	struct netlink_address address = {.family = AF_NETLINK, .groups = groups};
	CLEANUP_CLOSE int fd = -1;

	if (few_descriptors())
		return -EMFILE;
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, protocol);

	if (fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&address, sizeof address) < 0)
		return -errno;
	return take_fd(&fd);
}

int netlink_send(int fd, const void *message, size_t length)
{
	struct netlink_address kernel = {.family = AF_NETLINK};

	if (sendto(fd, message, length, MSG_NOSIGNAL, (const struct sockaddr *)(const void *)&kernel,
		   sizeof kernel) < 0)
		return -errno;
	return 0;
}

int netlink_receive(int fd, void *ret_bytes, size_t size)
{
	struct netlink_address from = {0};
	socklen_t from_length = sizeof from;
	ssize_t length =
		recvfrom(fd, ret_bytes, size, MSG_DONTWAIT, (struct sockaddr *)(void *)&from, &from_length);

	if (length < 0)
		return -errno;
	/* Another program may send to the socket. */
	return from.port ? -EAGAIN : (int)length;
}

int netlink_receive_batch(int fd, struct netlink_batch *batch)
{
	struct netlink_address from[NETLINK_BATCH] = {0};
	struct iovec parts[NETLINK_BATCH];
	struct mmsghdr messages[NETLINK_BATCH] = {0};
	size_t size = batch->datagram_bytes;
	int count;

	for (int i = 0; i < batch->capacity; i++) {
		parts[i] = (struct iovec){batch->bytes + (size_t)i * size, size};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		messages[i].msg_hdr.msg_name = &from[i];
		messages[i].msg_hdr.msg_namelen = sizeof from[i];
	}
	count = recvmmsg(fd, messages, (unsigned)batch->capacity, MSG_DONTWAIT, NULL);
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++)
		batch->lengths[i] =
			from[i].port || messages[i].msg_hdr.msg_flags & MSG_TRUNC ? 0 : messages[i].msg_len;
	return count;
}
