/* Writes a file in a process of its own. See beside.h. */
#include "sink/beside.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "base/fork_aside.h"
#include "base/wait_child.h"
#include "kernel/may_hang.h"
#include "sink/open_output.h"

enum { TEXT_CEILING = 64 << 20, PIECE_BYTES = 64 << 10 };
#define OPEN_LIMIT_NS (250 * NSEC_PER_MSEC)

/* ---- in the process ------------------------------------------------------------------------------------ */

struct file_keeper {
	struct beside_page *page;
	struct target *target;
	const struct target_options *options;
	struct buffer text; /* from the recorder; whole records are written */
};

/* A message that the recorder has not taken yet is more important than a later one. */
static void tell_from_beside(struct beside_page *page, const char *message)
{
	if (!*message || page->said != page->heard)
		return;
	output_message(page->message, sizeof page->message, "%s", message);
	page->said++;
}

static void pass_state_on(struct file_keeper *keeper)
{
	char message[BESIDE_MESSAGE_BYTES];

	if (keeper->page->said == keeper->page->heard &&
	    target_take_warning(keeper->target, message, sizeof message))
		tell_from_beside(keeper->page, message);
	keeper->page->dropped = target_status(keeper->target).dropped_records;
}

static void renew_file(struct file_keeper *keeper)
{
	char message[BESIDE_MESSAGE_BYTES];

	(void)target_renew(keeper->target, keeper->options, message, sizeof message);
	tell_from_beside(keeper->page, message);
}

/* A header that the recorder sent before it could know that the file has one. */
static bool is_second_head(const struct file_keeper *keeper, const char *record, size_t length)
{
	const char *head = keeper->options->csv_head;

	return head && target_had_content(keeper->target) && length == strlen(head) &&
	       memcmp(record, head, length) == 0;
}

static void look_at_kept_file(struct file_keeper *keeper)
{
	if (target_lost_its_name(keeper->target, false))
		keeper->page->lost++;
}

/* A length stands before each record, without bytes behind it, it asks for another file under the name. */
static void write_whole_records(struct file_keeper *keeper)
{
	struct buffer *text = &keeper->text;
	size_t at = 0;
	uint32_t length;

	while (text->length - at >= sizeof length) {
		const char *record = text->data + at + sizeof length;

		memcpy(&length, text->data + at, sizeof length);
		if (text->length - at - sizeof length < length)
			break;
		if (!length)
			renew_file(keeper);
		else if (!is_second_head(keeper, record, length)) {
			look_at_kept_file(keeper);
			(void)target_write(keeper->target, record, length);
		}
		at += sizeof length + length;
	}
	text->length -= at;
	memmove(text->data, text->data + at, text->length);
	pass_state_on(keeper);
	look_at_kept_file(keeper);
}

static void keep_file_beside(struct file_keeper *keeper, int socket)
{
	ssize_t length;
	char *piece;

	while ((piece = buffer_extend(&keeper->text, PIECE_BYTES))) {
		keeper->text.length -= PIECE_BYTES;
		do
			length = read(socket, piece, PIECE_BYTES);
		while (length < 0 && errno == EINTR);
		if (length <= 0)
			return;
		keeper->text.length += (size_t)length;
		write_whole_records(keeper);
	}
}

static _Noreturn void beside_main(struct beside_page *page, int socket, const char *path, int open_fd,
				  const struct target_options *options)
{
	struct target_options direct = *options;
	bool is_whole;
	struct file_keeper keeper = {.page = page, .options = &direct, .text = BUFFER(TEXT_CEILING)};
	int r;

	direct.beside = false;
	r = open_fd < 0 ? target_open(path, &direct, &keeper.target, page->message, sizeof page->message)
			: target_from_fd(open_fd, path, &direct, &keeper.target, page->message,
					 sizeof page->message);
	if (r < 0) {
		page->said = 1;
		page->opened = r;
		_exit(0);
	}
	page->is_file = target_is_file(keeper.target);
	page->size = target_size(keeper.target);
	page->opening = *target_opening(keeper.target);
	page->opened = 1;
	(void)send(socket, "", 1, MSG_NOSIGNAL);
	keep_file_beside(&keeper, socket);
	target_end(keeper.target, 0);
	pass_state_on(&keeper);
	is_whole = target_status(keeper.target).state == TARGET_OK;
	target_close(keeper.target, 0);
	page->is_whole = is_whole;
	_exit(0);
}

/* ---- in the recorder ------------------------------------------------------------------------------------ */

/* Waits for a word or the end of the process. */
static bool hears_in_time(struct beside *beside, int64_t deadline_ns)
{
	struct pollfd socket = {.fd = beside->socket, .events = POLLIN};
	int64_t left_ns;
	char word;
	int r;

	do {
		left_ns = deadline_ns - SYSTEM_CLOCKS.monotonic_ns(NULL);
		r = poll(&socket, 1, left_ns > 0 ? (int)(left_ns / NSEC_PER_MSEC) + 1 : 0);
	} while (r < 0 && errno == EINTR);
	if (r > 0)
		beside->has_ended = recv(beside->socket, &word, 1, MSG_DONTWAIT) <= 0;
	return r > 0;
}

static int start_process(const char *path, int open_fd, const struct target_options *options,
			 struct beside *beside)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	beside->pid = fork_aside(sockets[1], open_fd);
	if (beside->pid == 0)
		beside_main(beside->page, sockets[1], path, open_fd, options);
	close(sockets[1]);
	beside->socket = sockets[0];
	return beside->pid < 0 ? -errno : 0;
}

int beside_open(const char *path, int open_fd, const struct target_options *options,
		struct beside *ret_beside, char *ret_message, size_t message_size)
{
	char name[DESCRIPTOR_PATH_BYTES];
	const char *place = open_fd < 0 ? path : descriptor_path(open_fd, name);
	int64_t limit_ns = path_hangs_now(place) ? 0 : OPEN_LIMIT_NS;
	struct beside beside = {.socket = -1};
	int r;

	beside.page =
		mmap(NULL, sizeof *beside.page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (beside.page == MAP_FAILED)
		return -errno;
	r = start_process(path, open_fd, options, &beside);
	if (r == 0 && !hears_in_time(&beside, SYSTEM_CLOCKS.monotonic_ns(NULL) + limit_ns))
		path_has_hung(place);
	if (r == 0 && beside.page->opened < 0) {
		r = beside.page->opened;
		(void)beside_take_message(&beside, ret_message, message_size);
	}
	if (r < 0) {
		cleanup_close(&beside.socket);
		beside_done(&beside);
		return r;
	}
	*ret_beside = beside;
	return 0;
}

bool beside_finish(struct beside *beside, int64_t deadline_ns)
{
	shutdown(beside->socket, SHUT_WR);
	/* The word about the opening may still wait to be read: the end is the second. */
	while (hears_in_time(beside, deadline_ns) && !beside->has_ended)
		;
	return beside->page->is_whole;
}

bool beside_take_message(struct beside *beside, char *ret_message, size_t message_size)
{
	if (beside->page->said == beside->page->heard)
		return false;
	output_message(ret_message, message_size, "%s", beside->page->message);
	beside->page->heard++;
	return true;
}

void beside_done(struct beside *beside)
{
	if (beside->pid > 0)
		wait_child(beside->pid, NULL, beside->page->is_whole ? 0 : WNOHANG, NULL);
	munmap(beside->page, sizeof *beside->page);
}
