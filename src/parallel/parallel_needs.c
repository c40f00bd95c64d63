/* Finds which steps need which: by the names of targets and outputs in recorded commands. See parallel.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "parallel/parallel.h"

enum { NAME_BYTES = 1024 };

/* Signs between the words of a command, which is a JSON list with a line of the shell in it. */
static const char BETWEEN_WORDS[] = " \t\n;|&()<>=\"'[],`\\$";

struct output_name {
	char *text;
	size_t step;
};

struct output_names {
	struct output_name *list;
	size_t count, room;
};

static void output_names_done(struct output_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i].text);
	free(names->list);
}

static int add_output_name(struct output_names *names, const char *text, size_t length, size_t step)
{
	size_t room = names->room ? 2 * names->room : 256;
	struct output_name *list =
		names->count < names->room ? names->list : reallocarray(names->list, room, sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->room = names->count < names->room ? names->room : room;
	names->list = list;
	names->list[names->count] = (struct output_name){strndup(text, length), step};
	return names->list[names->count].text ? (names->count++, 0) : -ENOMEM;
}

static bool word_is(const char *word, size_t length, const char *text)
{
	return length == strlen(text) && memcmp(word, text, length) == 0;
}

/* The next word of a command, without a leading "./". `ret_is_output`: it follows "-o", "--output", "output=" or ">". */
static bool next_command_word(const char **at, const char **ret_word, size_t *ret_length, bool *ret_is_output)
{
	bool after_option = word_is(*ret_word, *ret_length, "-o") ||
			    word_is(*ret_word, *ret_length, "--output") ||
			    (word_is(*ret_word, *ret_length, "output") && **at == '=');
	bool after_arrow = false;

	for (; **at && strchr(BETWEEN_WORDS, **at); ++*at)
		after_arrow |= **at == '>';
	if (!**at)
		return false;
	*ret_word = *at;
	*ret_length = strcspn(*at, BETWEEN_WORDS);
	*at += *ret_length;
	if (*ret_length > 2 && memcmp(*ret_word, "./", 2) == 0) {
		*ret_word += 2;
		*ret_length -= 2;
	}
	*ret_is_output = after_option || after_arrow;
	return true;
}

static int add_outputs(struct output_names *names, const struct parallel_step *step, size_t index)
{
	const char *at = step->command ? step->command : "", *word = "";
	size_t length = 0;
	bool is_output;
	int result = *step->task ? add_output_name(names, step->task, strlen(step->task), index) : 0;

	while (result == 0 && next_command_word(&at, &word, &length, &is_output))
		if (is_output)
			result = add_output_name(names, word, length, index);
	return result;
}

static int by_text_and_step(const void *left, const void *right)
{
	const struct output_name *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->step > b->step) - (a->step < b->step);
}

/* The last step before `step` with an output of this name. SIZE_MAX: there is none. */
static size_t step_that_makes(const struct output_names *names, const char *text, size_t step)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(names->list[middle].text, text);

		if (order < 0 || (order == 0 && names->list[middle].step < step))
			low = middle + 1;
		else
			high = middle;
	}
	return low && strcmp(names->list[low - 1].text, text) == 0 ? names->list[low - 1].step : SIZE_MAX;
}

static int add_step_need(struct parallel_step *step, size_t need)
{
	size_t *needs;

	for (size_t i = 0; i < step->need_count; i++)
		if (step->needs[i] == need)
			return 0;
	needs = reallocarray(step->needs, step->need_count + 1, sizeof(*needs));
	if (!needs)
		return -ENOMEM;
	step->needs = needs;
	step->needs[step->need_count++] = need;
	return 0;
}

static int find_needs_of(struct parallel *parallel, const struct output_names *names, size_t index)
{
	struct parallel_step *step = &parallel->steps[index];
	const char *at = step->command ? step->command : "", *word = "";
	size_t length = 0, maker = step_that_makes(names, step->task, index);
	bool is_output;
	/* A target has a line of its recipe for each step, one after the other. */
	bool follows = *step->task && maker != SIZE_MAX &&
		       strcmp(parallel->steps[maker].task, step->task) == 0 &&
		       strcmp(parallel->steps[maker].rule, step->rule) == 0;
	int result = follows ? add_step_need(step, maker) : 0;

	while (result == 0 && next_command_word(&at, &word, &length, &is_output)) {
		char name[NAME_BYTES];

		if (is_output || length >= sizeof(name))
			continue;
		memcpy(name, word, length);
		name[length] = '\0';
		maker = step_that_makes(names, name, index);
		if (maker != SIZE_MAX)
			result = add_step_need(step, maker);
	}
	return result;
}

int parallel_find_needs(struct parallel *parallel)
{
	__attribute__((cleanup(output_names_done))) struct output_names names = {0};
	int result = 0;

	for (size_t i = 0; i < parallel->count && result == 0; i++)
		result = add_outputs(&names, &parallel->steps[i], i);
	if (names.count)
		qsort(names.list, names.count, sizeof(*names.list), by_text_and_step);
	for (size_t i = 0; i < parallel->count && result == 0; i++)
		result = find_needs_of(parallel, &names, i);
	for (size_t i = 0; i < parallel->count; i++)
		parallel->without_command += !parallel->steps[i].command;
	return result;
}
