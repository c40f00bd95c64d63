/*
 * The arguments of resource-tracker-net, a line each; the first byte selects the subcommand. An accepted line lies within
 * its bounds and belongs to the subcommand.
 */
#include <errno.h>

#include "fuzz.h"
#include "net/arguments.h"
#include "net/redacted_message.h"

enum { MOST_WORDS = MOST_OPERANDS + 40, MOST_BYTES = 1 << 14 };

static char SUBCOMMANDS[][16] = {"follow", "upload", "discover", "keeper"};

static void check(const struct arguments *arguments, const char *subcommand)
{
	must_hold(arguments->operand_count >= 0 && arguments->operand_count <= MOST_OPERANDS);
	must_hold(arguments->filter_count <= MOST_FILTERS);
	must_hold(arguments->deadline_ns >= 0 && arguments->from >= 0 && arguments->end_fd >= -1 &&
		  arguments->pid >= 0);
	must_hold(arguments->vcpus >= 0 && arguments->memory_mib >= 0 && arguments->gpus >= 0 &&
		  arguments->limit >= 0);
	must_hold(*arguments->root && (!arguments->spool || *arguments->spool));
	must_hold(strcmp(subcommand, "follow") == 0 ||
		  (arguments->end_fd == -1 && !arguments->pid && !arguments->from));
	must_hold(strcmp(subcommand, "keeper") == 0 || (!arguments->vcpus && !arguments->filter_count));
	must_hold(strcmp(subcommand, "discover") == 0 || (!arguments->lines && !arguments->python));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char text[MOST_BYTES], *words[MOST_WORDS + 1], *line = text;
	struct arguments arguments;
	int count = 1, result;

	if (!length || length >= sizeof(text))
		return 0;
	words[0] = SUBCOMMANDS[(uint8_t)(bytes[0] - 'a') % 4];
	memcpy(text, bytes + 1, length - 1);
	text[length - 1] = '\0';
	while (line && count < MOST_WORDS) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		words[count++] = line;
		line = end;
	}
	words[count] = NULL;
	message_enable(false);
	result = arguments_parse(&arguments, words);
	must_hold(result == 0 || result == -EINVAL);
	if (result == 0)
		check(&arguments, words[0]);
	return 0;
}
