/* `resource-tracker mark`. */
#include "cli/subcommands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/message.h"
#include "format/mark_line.h"
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
		return "is one word too many; give a name, and start or stop";
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

static int print_mark(const struct mark *mark)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64 << 10);

	mark_line(&out, mark);
	return print_text(&out);
}

int run_mark(char **argv)
{
	struct mark_request request = {0};
	struct utsname system = {0};
	struct mark mark;
	int result, status;

	CLEANUP_CLOSE int fd = -1;

	if (!read_subcommand(argv, take_mark_option, &request, &status))
		return status;
	if (request.word_count < 2 || !*request.words[0] ||
	    (strcmp(request.words[1], "start") != 0 && strcmp(request.words[1], "stop") != 0))
		return say_usage("mark", "give a name, and start or stop");
	(void)uname(&system);
	mark = (struct mark){
		.start = strcmp(request.words[1], "start") == 0,
		.name = request.words[0],
		.id = request.id,
		.pid = getppid(),
		.host = system.nodename,
	};
	fd = mark_open(request.file ? request.file : secure_getenv("RESOURCE_TRACKER_MARKS"));
	result = fd < 0 ? fd : mark_write(fd, &mark);
	/* A job that is not being recorded is not an error, and a mark must never fail a job. */
	if (result < 0 && !(fd == -ENOENT && !request.file))
		say_of("mark", "the phase is not marked: %s", strerror(-result));
	return request.json ? print_mark(&mark) : 0;
}
