/* The messages between a library and its recorder in another process. See remote_message.h. */
#include "remote/remote_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static int error_of_socket(void)
{
	if (errno == EAGAIN)
		return -ETIMEDOUT;
	return errno == ECONNRESET ? -EPIPE : -errno;
}

static int send_all_bytes(int socket, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return error_of_socket();
		bytes += sent;
		length -= (size_t)sent;
	}
	return 0;
}

static int receive_all(int socket, char *bytes, size_t length)
{
	while (length) {
		ssize_t got = recv(socket, bytes, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? error_of_socket() : -EPIPE;
		bytes += got;
		length -= (size_t)got;
	}
	return 0;
}

int remote_send(int socket, const struct remote_message *message, const void *payload)
{
	int error = send_all_bytes(socket, (const char *)message, sizeof *message);

	return error < 0 ? error : send_all_bytes(socket, payload, message->payload_bytes);
}

int remote_receive(int socket, struct remote_message *ret_message, struct buffer *ret_payload)
{
	int error = receive_all(socket, (char *)ret_message, sizeof *ret_message);

	buffer_clear(ret_payload);
	if (error < 0 || !ret_message->payload_bytes)
		return error;
	if (buffer_reserve(ret_payload, ret_message->payload_bytes) < 0)
		return -EMSGSIZE;
	error = receive_all(socket, ret_payload->data, ret_message->payload_bytes);
	if (error < 0)
		return error;
	/* The buffer always has room for one more byte, the NUL that ends a text. */
	ret_payload->length = ret_message->payload_bytes;
	ret_payload->data[ret_payload->length] = '\0';
	return 0;
}

enum { TYPE_MASK = 0xff, REASON_SHIFT = 8 };

void remote_value_pack(const struct rt_value *value, struct remote_message *ret_message)
{
	if (value->type == RT_TYPE_REAL)
		memcpy(&ret_message->first, &value->real, sizeof value->real);
	else
		ret_message->first = value->type == RT_TYPE_TEXT ? 0 : value->count;
	ret_message->count = (int64_t)value->type + ((int64_t)value->reason << REASON_SHIFT);
}

struct rt_value remote_value_unpack(const struct remote_message *message)
{
	struct rt_value value = {
		.type = (enum rt_type)(message->count & TYPE_MASK),
		.reason = (int)(message->count >> REASON_SHIFT),
	};

	if (value.type == RT_TYPE_REAL)
		memcpy(&value.real, &message->first, sizeof value.real);
	else
		value.count = message->first;
	return value;
}
