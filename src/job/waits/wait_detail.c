/* The path or the addresses of a thing that is waited for. See wait_detail.h. */
#include "job/waits/wait_detail.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "job/waits/wait_target.h"

enum { PATH_SIZE = 48 };

/* "192.0.2.7:5432", "[2001:db8::1]:53", "/run/db.sock", "@name"; "" for a local socket without a name. */
static void address_text(const struct sockaddr_storage *address, socklen_t size, char *text, size_t text_size)
{
	char number[INET6_ADDRSTRLEN] = "";
	const struct sockaddr_un *local = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	text[0] = '\0';
	if (address->ss_family == AF_UNIX && size > offsetof(struct sockaddr_un, sun_path)) {
		size_t length = size - offsetof(struct sockaddr_un, sun_path);
		bool is_abstract = !local->sun_path[0];

		snprintf(text, text_size, "%s%.*s", is_abstract && length > 1 ? "@" : "",
			 (int)length - is_abstract, local->sun_path + is_abstract);
	} else if (address->ss_family == AF_INET) {
		inet_ntop(AF_INET, &four->sin_addr, number, sizeof number);
		snprintf(text, text_size, "%s:%d", number, ntohs(four->sin_port));
	} else if (address->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, number, sizeof number);
		snprintf(text, text_size, "[%s]:%d", number, ntohs(six->sin6_port));
	}
}

/* The peer of a socket, or the place at which it listens. */
static void socket_detail(int copy, char ret_text[WAIT_DETAIL_SIZE])
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof address;

	if (getpeername(copy, (struct sockaddr *)&address, &size) < 0) {
		size = sizeof address;
		if (getsockname(copy, (struct sockaddr *)&address, &size) < 0)
			return;
	}
	if (size <= sizeof address)
		address_text(&address, size, ret_text, WAIT_DETAIL_SIZE);
}

void wait_detail(const struct root *root, const struct found_wait *wait, char ret_text[WAIT_DETAIL_SIZE])
{
	char path[PATH_SIZE];
	ssize_t length;

	ret_text[0] = '\0';
	if (wait->fd < 0)
		return;
	snprintf(path, sizeof path, "%d/fd/%d", (int)wait->pid, wait->fd);
	length = readlinkat(root->proc_fd, path, ret_text, WAIT_DETAIL_SIZE - 1);
	ret_text[length > 0 ? length : 0] = '\0';
	if (strncmp(ret_text, "socket:", 7) == 0) {
		int copy = wait_copy_socket(wait->pid, wait->fd);

		ret_text[0] = '\0';
		if (copy < 0)
			return;
		socket_detail(copy, ret_text);
		close(copy);
	} else if (ret_text[0] != '/') {
		ret_text[0] = '\0'; /* an unnamed pipe */
	}
}
