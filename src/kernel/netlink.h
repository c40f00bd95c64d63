/*
 * The shape of netlink messages, written out so that the recorder needs no kernel headers: some C libraries come
 * without them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"

enum {
	NETLINK_HEADER_BYTES = 16,
	NETLINK_MESSAGE_ERROR = 2,
	NETLINK_MESSAGE_DONE = 3,
	NETLINK_FLAG_REQUEST = 1,
};

struct netlink_address {
	uint16_t family;
	uint16_t pad;
	uint32_t port; /* 0: the kernel */
	uint32_t groups;
};

struct netlink_header {
	uint32_t length; /* with this header */
	uint16_t type;
	uint16_t flags;
	uint32_t sequence;
	uint32_t port;
};
_Static_assert(sizeof(struct netlink_header) == NETLINK_HEADER_BYTES, "as the kernel's struct nlmsghdr");
_Static_assert(sizeof(struct netlink_address) == 12, "as the kernel's struct sockaddr_nl");

static inline uint64_t netlink_u16(const struct scan *bytes, size_t offset)
{
	uint16_t value = 0;

	if (offset + sizeof value <= scan_left(bytes))
		memcpy(&value, bytes->at + offset, sizeof value);
	return value;
}

static inline uint32_t netlink_u32(const struct scan *bytes, size_t offset)
{
	uint32_t value = 0;

	if (offset + sizeof value <= scan_left(bytes))
		memcpy(&value, bytes->at + offset, sizeof value);
	return value;
}

static inline uint64_t netlink_u64(const struct scan *bytes, size_t offset)
{
	uint64_t value = 0;

	if (offset + sizeof value <= scan_left(bytes))
		memcpy(&value, bytes->at + offset, sizeof value);
	return value;
}

/* Steps over the next message and returns its type and what follows its header. False at the end, and if it is cut. */
bool netlink_next_message(struct scan *messages, uint16_t *ret_type, struct scan *ret_body);

/* Steps over the next attribute. Attributes and messages are padded to 4 bytes. */
bool netlink_next_attribute(struct scan *attributes, uint16_t *ret_type, struct scan *ret_value);

/*
 * Opens a socket of a protocol that joins the groups. Returns it, or a negative errno. -EMFILE also if this process may have so
 * few descriptors that its outputs need them all.
 */
int netlink_open(int protocol, uint32_t groups);

/* Sends to the kernel. Returns 0 or a negative errno. */
int netlink_send(int fd, const void *message, size_t length);

/* Room for datagrams that are received at once. */
enum { NETLINK_BATCH = 32 };

struct netlink_batch {
	char *bytes;
	size_t datagram_bytes;         /* room for each, one after the other */
	int capacity;                  /* of datagrams, at most NETLINK_BATCH */
	size_t lengths[NETLINK_BATCH]; /* 0: not from the kernel, or too long */
};

/* Receives datagrams of the kernel, without waiting. Returns their number or a negative errno. */
int netlink_receive_batch(int fd, struct netlink_batch *batch);

/* The next datagram of a batch, for index 0, 1, ... */
static inline struct scan netlink_datagram(const struct netlink_batch *batch, int index)
{
	return scan_bytes(batch->bytes + (size_t)index * batch->datagram_bytes, batch->lengths[index]);
}

/* Receives a datagram of the kernel, without waiting. Returns its length or a negative errno. */
int netlink_receive(int fd, void *ret_bytes, size_t size);
