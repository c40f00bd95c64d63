/* `resource-tracker mark`; see mark.h. */
#include "cli/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/message.h"
#include "cli/programs.h"
#include "format/mark_line.h"

static const char USAGE[] =
	"Mark a phase of a job from inside it\n"
	"\n"
	"usage: resource-tracker mark [OPTIONS] NAME start|stop\n"
	"\n"
	"      --id ID        the same ID for start and stop; needed if they have different parent\n"
	"                     processes while several phases of one name run\n"
	"      --file FILE    write to FILE (default: $RESOURCE_TRACKER_MARKS, which is set in a job\n"
	"                     that is recorded to a file)\n"
	"      --json         print the mark as well\n"
	"\n"
	"Without --id, stop ends the phase of this name that the calling process started last.\n"
	"Outside a recording the command does nothing. `resource-tracker regions FILE` shows the\n"
	"resource use of each phase.\n";

struct request {
	const char *id, *file;
	const char *words[2];
	int word_count;
	bool json, help;
};

/* Returns the value of "--name VALUE" or "--name=VALUE". NULL: another option, or the value is missing. */
static const char *take_value(char ***argv, const char *name)
{
	const char *word = **argv;
	size_t length = strlen(name);

	if (strncmp(word, name, length) != 0)
		return NULL;
	if (word[length] == '=')
		return word + length + 1;
	return word[length] || !(*argv)[1] ? NULL : *++*argv;
}

/* Returns NULL, or the word that is wrong. */
static const char *read_request(char **argv, struct request *request)
{
	bool options = true;

	for (argv++; *argv; argv++) {
		const char *word = *argv, *value;

		if (options && strcmp(word, "--") == 0)
			options = false;
		else if (options && (value = take_value(&argv, "--id")))
			request->id = value;
		else if (options && (value = take_value(&argv, "--file")))
			request->file = value;
		else if (options && strcmp(word, "--json") == 0)
			request->json = true;
		else if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0))
			request->help = true;
		else if ((options && word[0] == '-') || request->word_count == 2)
			return word;
		else
			request->words[request->word_count++] = word;
	}
	return NULL;
}

static int print_mark(const struct mark *mark)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64 << 10);

	mark_line(&out, mark);
	return print_text(&out);
}

static int usage_error(const char *what, const char *word)
{
	say("mark: %s%s (see resource-tracker mark --help)", what, word);
	say_how_to_wrap("mark");
	return EXIT_OWN_ERROR;
}

int run_mark(char **argv)
{
	CLEANUP_BUFFER struct buffer help = BUFFER(sizeof(USAGE));
	struct request request = {0};
	const char *wrong = read_request(argv, &request);
	struct utsname system = {0};
	struct mark mark;
	int result;

	CLEANUP_CLOSE int fd = -1;

	if (request.help) {
		buffer_add_text(&help, USAGE);
		return print_text(&help);
	}
	if (wrong)
		return usage_error("not understood: ", wrong);
	if (request.word_count < 2 || !*request.words[0] ||
	    (strcmp(request.words[1], "start") != 0 && strcmp(request.words[1], "stop") != 0))
		return usage_error("give a name, and start or stop", "");
	(void)uname(&system);
	mark = (struct mark){
		.start = strcmp(request.words[1], "start") == 0,
		.name = request.words[0],
		.id = request.id,
		.pid = getppid(),
		.host = system.nodename,
	};
	fd = mark_open(request.file ? request.file : getenv("RESOURCE_TRACKER_MARKS"));
	result = fd < 0 ? fd : mark_write(fd, &mark);
	/* A job that is not being recorded is not an error, and a mark must never fail a job. */
	if (result < 0 && !(fd == -ENOENT && !request.file))
		say("mark: the phase is not marked: %s", strerror(-result));
	return request.json ? print_mark(&mark) : 0;
}
