/* Tests of src/options/parse.c and option_help.c: the meaning of command lines, and the look of their help. */
#include "unit.h"

#include <stdio.h>

#include "options/option_help.h"
#include "options/parse.h"

static const struct option_row ROWS[] = {
	{.heading = "run", .argument = "", .default_text = ""},
	{.name = "quiet",
	 .letter = 'q',
	 .kind = KIND_SWITCH,
	 .argument = "",
	 .default_text = "",
	 .help = "say nothing"},
	{.name = "interval",
	 .letter = 'i',
	 .kind = KIND_VALUE,
	 .argument = "SECS",
	 .default_text = "1",
	 .help = "time between two samples"},
	{.name = "tag",
	 .letter = 't',
	 .kind = KIND_LIST,
	 .argument = "KEY=VALUE",
	 .default_text = "",
	 .help = "label of the run"},
	{.name = "sort",
	 .kind = KIND_VALUE,
	 .argument = "cpu|memory",
	 .default_text = "",
	 .help = "order of rows"},
	{.name = "form",
	 .kind = KIND_OPEN,
	 .argument = "slurm|docker|kubernetes|nextflow",
	 .default_text = "slurm",
	 .help = "text to copy into a request for the next run"},
	{.name = "wait",
	 .letter = 'w',
	 .kind = KIND_OPTIONAL,
	 .argument = "SECS",
	 .default_text = "",
	 .help = "wait for the end"},
	{.heading = "show", .argument = "", .default_text = ""},
	{.name = "rows", .kind = KIND_NUMBER, .argument = "N", .default_text = "", .help = "how many"},
	{.argument = ""},
};

static char told[400];

static const char *tell(void *context, const struct option_row *row, const char *text)
{
	size_t length = strlen(told);

	(void)context;
	snprintf(told + length, sizeof told - length, "%s=%s ", row ? row->name : "", text ? text : "(none)");
	return row && text && strcmp(text, "bad") == 0 ? "is not good" : NULL;
}

static struct parser parser;

/* Splits a line at its blanks, and returns what was told, then the command, or the message. */
static const char *read_line(const char *line, bool command_follows)
{
	static char words[400], result[1200];
	char *argv[32], **rest = NULL, *at = words;
	size_t count = 0;

	told[0] = '\0';
	parser = (struct parser){.options = options_of(ROWS, "run"),
				 .take = tell,
				 .command_follows = command_follows,
				 .checks_values = true};
	snprintf(words, sizeof words, "program %s", line);
	while ((argv[count] = strsep(&at, " ")))
		count++;
	if (parse_words(&parser, argv, &rest) < 0)
		return parser.message;
	snprintf(result, sizeof result, "%s%s%s", told, rest ? "then " : "", rest ? *rest : "");
	return result;
}

static void words_have_long_and_short_forms(void **state)
{
	(void)state;
	assert_string_equal(read_line("--interval 5 --quiet file", false), "interval=5 quiet=1 =file ");
	assert_string_equal(read_line("--interval=5 file --quiet", false), "interval=5 =file quiet=1 ");
}

static void short_forms_stand_together(void **state)
{
	(void)state;
	assert_string_equal(read_line("-qi5", false), "quiet=1 interval=5 ");
	assert_string_equal(read_line("-qi 5", false), "quiet=1 interval=5 ");
	assert_string_equal(read_line("-w -q", false), "wait=(none) quiet=1 ");
	assert_string_equal(read_line("-w5", false), "wait=5 ");
	assert_string_equal(read_line("--wait --wait=5", false), "wait=(none) wait=5 ");
}

static void a_switch_may_be_off(void **state)
{
	(void)state;
	assert_string_equal(read_line("--quiet=no -w", false), "wait=(none) ");
	assert_string_equal(read_line("--quiet=1", false), "quiet=1 ");
	assert_string_equal(read_line("--quiet=maybe", false),
			    "--quiet: 'maybe' is neither yes nor no; give 1 or 0");
}

static void a_value_counts_once_and_a_list_grows(void **state)
{
	(void)state;
	assert_string_equal(read_line("-i 5 --interval=6", false), "--interval is given twice");
	assert_string_equal(read_line("-t a=1 --tag b=2", false), "tag=a=1 tag=b=2 ");
	assert_string_equal(read_line("-q -q", false), "quiet=1 quiet=1 ");
}

static void a_missing_value_is_not_the_next_option(void **state)
{
	(void)state;
	assert_string_equal(read_line("--interval", false), "--interval needs SECS");
	assert_string_equal(
		read_line("--interval --quiet", false),
		"--interval needs SECS, but '--quiet' follows; if that is meant: --interval=--quiet");
	assert_string_equal(read_line("-i -z", false),
			    "--interval needs SECS, but '-z' follows; if that is meant: --interval=-z");
	assert_string_equal(read_line("-i -A", false),
			    "--interval needs SECS, but '-A' follows; if that is meant: --interval=-A");
	/* A negative number and standard input are values. */
	assert_string_equal(read_line("-i -5", false), "interval=-5 ");
	assert_string_equal(read_line("-i -", false), "interval=- ");
	assert_string_equal(read_line("--interval=-q", false), "interval=-q ");
}

static void unknown_words_name_the_nearest(void **state)
{
	(void)state;
	assert_string_equal(read_line("--intervall 5", false),
			    "unknown option '--intervall'; the nearest is --interval");
	assert_string_equal(read_line("--format", false), "unknown option '--format'; the nearest is --form");
	/* An option that is the beginning of the word, if it has three letters or more. */
	assert_string_equal(read_line("--tagging", false),
			    "unknown option '--tagging'; the nearest is --tag");
	assert_string_equal(read_line("--zzz=5", false), "unknown option '--zzz=5'");
	assert_string_equal(read_line("-interval 5", false),
			    "unknown option '-interval'; the nearest is --interval");
	assert_string_equal(read_line("-interval=5", false),
			    "unknown option '-interval=5'; the nearest is --interval=5");
	assert_string_equal(read_line("-Z", false), "unknown option '-Z'");
	/* Another subcommand's option is unknown here. */
	assert_string_equal(read_line("--rows 5", false), "unknown option '--rows'");
}

static void a_word_of_a_list_is_checked(void **state)
{
	(void)state;
	assert_string_equal(read_line("--sort cpu --form=mine", false), "sort=cpu form=mine ");
	assert_string_equal(read_line("--sort memory", false), "sort=memory ");
	assert_string_equal(read_line("--sort mem", false),
			    "--sort: 'mem' is unknown; give one of cpu, memory");
	assert_string_equal(read_line("--sort cpu|memory", false),
			    "--sort: 'cpu|memory' is unknown; give one of cpu, memory");
	assert_string_equal(read_line("--tag bad", false), "--tag: 'bad' is not good");
}

static void a_long_value_is_cut_in_the_message(void **state)
{
	char line[120] = "--sort ";

	(void)state;
	memset(line + 7, 'x', 60);
	assert_null(strstr(read_line(line, false), "..."));
	memset(line + 7, 'x', 61);
	assert_non_null(strstr(read_line(line, false), "xxx...' is unknown"));
}

static void options_behind_a_command_are_its_own(void **state)
{
	(void)state;
	assert_string_equal(read_line("-q make -q", true), "quiet=1 then make");
	assert_string_equal(read_line("-q -- -q", true), "quiet=1 then -q");
	assert_string_equal(read_line("-q --", true), "quiet=1 ");
	assert_string_equal(read_line("-q -- -q", false), "quiet=1 =-q ");
	assert_string_equal(read_line("- file", false), "=- =file ");
	assert_string_equal(read_line("-", true),
			    "'-' is neither an option nor a command; to run a program of that name: -- -");
}

static bool line_asks_for_help(const char *line)
{
	char words[80], *argv[8], *at = words;
	size_t count = 0;

	snprintf(words, sizeof words, "%s", line);
	while ((argv[count] = strsep(&at, " ")))
		count++;
	return asks_for_help(argv);
}

static void help_is_asked_for_before_the_command_line_ends(void **state)
{
	(void)state;
	assert_true(line_asks_for_help("p x --help"));
	assert_true(line_asks_for_help("p -h"));
	assert_true(line_asks_for_help("p --help=all"));
	assert_false(line_asks_for_help("--help"));
	assert_false(line_asks_for_help("p -- --help"));
	assert_false(line_asks_for_help("p --helpme"));
	assert_false(asks_for_help(&(char *){NULL}));
}

static void subcommands_have_their_own_options(void **state)
{
	static const struct subcommand LIST[] = {{.name = "run"}, {.name = "show"}, {.name = NULL}};

	(void)state;
	assert_int_equal(options_of(ROWS, "run").count, 6);
	assert_int_equal(options_of(ROWS, "show").count, 1);
	assert_int_equal(options_of(ROWS, "tell").count, 0);
	assert_ptr_equal(find_subcommand(LIST, "show"), &LIST[1]);
	assert_null(find_subcommand(LIST, "sho"));
}

/* ---- help ---- */

static void help_stands_in_columns(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	(void)state;
	for (size_t i = 1; i < 7; i++)
		add_option_help(&out, &ROWS[i]);
	add_label_help(&out, "  show FILE...", "samples as a table");
	add_label_help(&out, "  a-long-name-of-a-subcommand F", "its help");
	assert_string_equal(out.data,
			    "  -q, --quiet                  say nothing\n"
			    "  -i, --interval SECS          time between two samples (default: 1)\n"
			    "  -t, --tag KEY=VALUE          label of the run\n"
			    "      --sort cpu|memory        order of rows\n"
			    "      --form WORD              text to copy into a request for the next run:\n"
			    "                               slurm, docker, kubernetes, nextflow\n"
			    "                               (default: slurm)\n"
			    "  -w, --wait[=SECS]            wait for the end\n"
			    "  show FILE...                 samples as a table\n"
			    "  a-long-name-of-a-subcommand F\n"
			    "                               its help\n");
}

static void paragraphs_fill_eighty_columns(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	(void)state;
	add_paragraphs(
		&out,
		"aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg hhhhhhhhhh i\nnext");
	assert_string_equal(out.data, "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg "
				      "hhhhhhhhhh\ni\n\nnext\n");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_have_long_and_short_forms),
		cmocka_unit_test(short_forms_stand_together),
		cmocka_unit_test(a_switch_may_be_off),
		cmocka_unit_test(a_value_counts_once_and_a_list_grows),
		cmocka_unit_test(a_missing_value_is_not_the_next_option),
		cmocka_unit_test(unknown_words_name_the_nearest),
		cmocka_unit_test(a_word_of_a_list_is_checked),
		cmocka_unit_test(a_long_value_is_cut_in_the_message),
		cmocka_unit_test(options_behind_a_command_are_its_own),
		cmocka_unit_test(help_is_asked_for_before_the_command_line_ends),
		cmocka_unit_test(subcommands_have_their_own_options),
		cmocka_unit_test(help_stands_in_columns),
		cmocka_unit_test(paragraphs_fill_eighty_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
