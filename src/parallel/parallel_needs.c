/* Finds which steps need which: by what they tell (workflow/step_names.h), else by the names of targets and outputs in recorded commands. See parallel.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "parallel/parallel.h"
#include "workflow/step_names.h"

/* Signs between the words of a command, which is a JSON list with a line of the shell in it. */
static const char BETWEEN_WORDS[] = " \t\n;|&()<>=\"'[],`\\$";

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

static int add_outputs(struct step_names *names, const struct parallel_step *step, size_t index)
{
	const char *at = step->command ? step->command : "", *word = "";
	size_t length = 0;
	bool is_output;
	int result =
		*step->task ? step_names_add(names, scan_bytes(step->task, strlen(step->task)), index) : 0;

	if (result == 0 && step->told_makes)
		result = step_names_add_words(names, step->told_makes, index);

	while (result == 0 && next_command_word(&at, &word, &length, &is_output))
		if (is_output)
			result = step_names_add(names, scan_bytes(word, length), index);
	return result;
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

static int need_maker(struct parallel_step *step, const struct step_names *names, struct scan name,
		      size_t index)
{
	size_t maker = step_names_find(names, name, index);

	return maker == SIZE_MAX ? 0 : add_step_need(step, maker);
}

static int find_needs_of(struct parallel *parallel, const struct step_names *names, size_t index)
{
	struct parallel_step *step = &parallel->steps[index];
	struct scan task = scan_bytes(step->task, strlen(step->task)), told, name;
	const char *at = step->command && !step->told_needs ? step->command : "", *word = "";
	size_t length = 0, maker = step_names_find(names, task, index);
	bool is_output;
	/* A target has a line of its recipe for each step, one after the other. */
	bool follows = *step->task && maker != SIZE_MAX &&
		       strcmp(parallel->steps[maker].task, step->task) == 0 &&
		       strcmp(parallel->steps[maker].rule, step->rule) == 0;
	int result = follows ? add_step_need(step, maker) : 0;

	told = step->told_needs ? scan_bytes(step->told_needs, strlen(step->told_needs)) : (struct scan){0};
	while (result == 0 && scan_word(&told, &name))
		result = need_maker(step, names, name, index);
	while (result == 0 && next_command_word(&at, &word, &length, &is_output))
		if (!is_output)
			result = need_maker(step, names, scan_bytes(word, length), index);
	return result;
}

int parallel_find_needs(struct parallel *parallel)
{
	CLEANUP_STEP_NAMES struct step_names names = {0};
	int result = 0;

	for (size_t i = 0; i < parallel->count && result == 0; i++)
		result = add_outputs(&names, &parallel->steps[i], i);
	step_names_sort(&names);
	for (size_t i = 0; i < parallel->count && result == 0; i++)
		result = find_needs_of(parallel, &names, i);
	for (size_t i = 0; i < parallel->count; i++)
		parallel->without_command += !parallel->steps[i].command && !parallel->steps[i].told_needs;
	return result;
}
