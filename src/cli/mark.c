/* `resource-tracker mark`. */
#include "cli/subcommands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/file_place.h"
#include "base/json_write.h"
#include "cli/message.h"
#include "format/mark_line.h"
#include "launch/in_time.h"
#include "options/usage.h"

struct mark_request {
	const char *id, *file;
	const char *words[2];
	int word_count;
	bool json;
};

static const char *take_mark_option(void *context, const struct option_row *row, const char *text)
{
	struct mark_request *request = context;

	if (!row && request->word_count == 2)
		return "is one word too many; give a name, and start or stop behind it if the phase has both";
	if (!row)
		request->words[request->word_count++] = text;
	else if (row->id == OPTION_mark_id)
		request->id = text;
	else if (row->id == OPTION_mark_file)
		request->file = text;
	else
		request->json = true;
	return NULL;
}

/* One word is the name of the next phase. A lone "start" or "stop" lacks the name. "" is a name, of a variable that is empty. */
static bool find_event(const struct mark_request *request, enum mark_event *ret_event)
{
	const char *last = request->word_count ? request->words[request->word_count - 1] : "";
	bool starts = strcmp(last, "start") == 0, stops = strcmp(last, "stop") == 0;

	if (!request->word_count || (starts || stops) != (request->word_count == 2))
		return false;
	*ret_event = starts ? MARK_START : stops ? MARK_STOP : MARK_NEXT;
	return true;
}

static int print_mark(const struct mark *mark)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64 << 10);

	mark_line(&out, mark);
	return print_text(&out);
}

/* The writing of a mark, which another process may do: it must never make the job wait. */
struct mark_call {
	const char *path;
	const struct mark *mark;
	int fd;
	int result;
};

static void call_mark(void *data)
{
	struct mark_call *call = data;

	call->fd = mark_open(call->path);
	call->result = call->fd < 0 ? call->fd : mark_write(call->fd, call->mark);
	if (call->fd >= 0)
		close(call->fd);
}

int run_mark(char **argv)
{
	struct mark_request request = {0};
	struct utsname system = {0};
	enum mark_event event;
	struct mark_call call;
	struct mark mark;
	int result, status;

	if (!read_subcommand(argv, take_mark_option, &request, &status))
		return status;
	if (!find_event(&request, &event))
		return say_usage(
			"mark",
			"name the phase that begins now, as in `mark load`, or add start or stop, as in "
			"`mark load start`");
	if (!*request.words[0]) {
		say_of("mark", "the name is empty");
		return 0;
	}
	(void)uname(&system);
	mark = (struct mark){
		.event = event,
		.name = request.words[0],
		.id = request.id,
		.pid = getppid(),
		.host = system.nodename,
	};
	call = (struct mark_call){
		.path = request.file ? request.file : secure_getenv("RESOURCE_TRACKER_MARKS"),
		.mark = &mark,
	};
	allow_work_aside(JOB_LOOK_MS);
	result = act_in_time(call.path ? call.path : "/", call_mark, &call, sizeof(call));
	result = result < 0 ? result : call.result;
	/* A job that is not being recorded is not an error, and a mark must never fail a job. */
	if (result < 0 && call.path && (*call.path || request.file))
		say_of("mark", "the phase is not marked: %s: %s", *call.path ? call.path : "''",
		       result == -EACCES ? strerror(EACCES) : file_place_fault(result));
	if (result >= 0 && event == MARK_NEXT && strcmp(mark.name, "end") == 0)
		say_of("mark", "phase end begins; to end one: mark NAME start, mark NAME stop");
	return request.json ? print_mark(&mark) : 0;
}
