/* An HTTP server on the loopback that gives each request the next answer of a list and keeps what it was asked. */
#pragma once

#include "scratch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LOOPBACK_END "\n~~~\n" /* of each request in `asked` */

struct loopback {
	pid_t pid;
	char url[64];
	char *asked; /* all requests, after loopback_end() */
	size_t asked_length;
};

/* Reads a request with its body. */
static inline size_t loopback_read(int fd, char *text, size_t size)
{
	size_t length = 0, whole = size;

	while (length < whole && length + 1 < size) {
		ssize_t got = read(fd, text + length, size - length - 1);
		char *body, *told;

		if (got <= 0)
			break;
		length += (size_t)got;
		text[length] = '\0';
		body = strstr(text, "\r\n\r\n");
		if (!body)
			continue;
		told = strcasestr(text, "\r\nContent-Length:");
		whole = (size_t)(body + 4 - text) + (told && told < body ? (size_t)atol(told + 17) : 0);
	}
	return length;
}

/* An answer that begins with "-" is sent without it, and then the server waits before it closes. NULL ends the list. */
static inline void loopback_serve(struct loopback *ret_server, const char *const answers[])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int log = open("asked", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	socklen_t length = sizeof address;

	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	snprintf(ret_server->url, sizeof ret_server->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
	ret_server->asked = NULL;
	ret_server->pid = fork();
	if (ret_server->pid == 0) {
		static char text[1 << 20];

		/* It ends with a test that fails, whose pipe it would hold open. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (; *answers; answers++) {
			int fd = accept(listener, NULL, NULL);
			const char *answer = *answers + (**answers == '-');

			(void)!write(log, text, loopback_read(fd, text, sizeof text));
			(void)!write(log, LOOPBACK_END, strlen(LOOPBACK_END));
			(void)!write(fd, answer, strlen(answer));
			while (**answers == '-' && read(fd, text, sizeof text) > 0)
				;
			close(fd);
		}
		_exit(0);
	}
	close(listener);
	close(log);
}

static inline void loopback_end(struct loopback *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	server->asked = get_file("asked", &server->asked_length);
}

static inline bool loopback_was_asked(const struct loopback *server, const char *text)
{
	return memmem(server->asked, server->asked_length, text, strlen(text)) != NULL;
}

/* How often a text stands in all that was asked. */
static inline int loopback_count(const struct loopback *server, const char *text)
{
	const char *at = server->asked, *end = server->asked + server->asked_length;
	int count = 0;

	for (; (at = memmem(at, (size_t)(end - at), text, strlen(text))); at++)
		count++;
	return count;
}

static inline int loopback_requests(const struct loopback *server)
{
	return loopback_count(server, LOOPBACK_END);
}

#define ANSWER(status, headers, body) "HTTP/1.1 " status "\r\nConnection: close\r\n" headers "\r\n" body
