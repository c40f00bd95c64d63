/* The work that all subcommands of the analysis share: src/analysis/command.c. Their words on standard error are read from a file. */
#include "scratch.h"

#include "analysis/command.h"

static const char *const SAID = "said";
static int kept_stderr;

static void begin_listening(void)
{
	int fd = open(SAID, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	fflush(stderr);
	kept_stderr = dup(STDERR_FILENO);
	assert_true(fd >= 0 && kept_stderr >= 0);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

/* `words` NULL: nothing was said. */
static void end_listening(const char *words)
{
	char *said;

	fflush(stderr);
	assert_int_equal(dup2(kept_stderr, STDERR_FILENO), STDERR_FILENO);
	close(kept_stderr);
	said = get_file(SAID, NULL);
	if (words ? !strstr(said, words) : *said)
		fail_msg("\"%s\" is not what was said: %s", words ? words : "", said);
	free(said);
}

#define ARGV(...) ((char *[]){(char *)(uintptr_t) "resource-tracker", __VA_ARGS__, NULL})
#define WORD(text) ((char *)(uintptr_t)(text))

static struct ls_words read_ls(char **argv, int status, const char *words)
{
	struct ls_words options = {.number = -1};
	int found;

	begin_listening();
	found = command_read_words(command_named("ls"), argv, &options);
	end_listening(words);
	assert_int_equal(found, status);
	return options;
}

static void options_become_fields(void **state)
{
	struct ls_words options = read_ls(ARGV(WORD("--json"), WORD("-n"), WORD("0"), WORD("--tag"),
					       WORD("a=1"), WORD("--tag=b,c"), WORD("x"), WORD("y")),
					  0, NULL);

	(void)state;
	assert_true(options.json && !options.words && options.number == 0 && !options.outcome);
	assert_int_equal(options.tag.count, 2);
	assert_string_equal(options.tag.texts[0], "a=1");
	assert_string_equal(options.tag.texts[1], "b,c");
	assert_int_equal(options.line.files.count, 2);
	assert_string_equal(options.line.files.texts[1], "y");
	ls_words_done(&options);
	assert_int_equal(options.tag.count + options.line.files.count, 0);
}

static void numbers_have_limits(void **state)
{
	struct recommend_words options = {0};
	struct ls_words ls;

	(void)state;
	ls = read_ls(ARGV(WORD("-n=-1")), EXIT_USAGE, "is not a valid value");
	ls_words_done(&ls);
	ls = read_ls(ARGV(WORD("--number=-1")), EXIT_USAGE, "--number: '-1' is not a valid value");
	ls_words_done(&ls);
	begin_listening();
	assert_int_equal(command_read_words(command_named("recommend"), ARGV(WORD("--price=0")), &options),
			 EXIT_USAGE);
	end_listening("--price: '0' is not a valid value");
	begin_listening();
	assert_int_equal(command_read_words(command_named("recommend"), ARGV(WORD("--price=0.25")), &options),
			 0);
	end_listening(NULL);
	assert_true(options.price == 0.25);
	recommend_words_done(&options);
}

static void parts_steps_and_words_are_kept_in_order(void **state)
{
	struct show_words show = {0};
	struct stats_words stats = {0};

	(void)state;
	assert_int_equal(command_read_words(command_named("show"),
					    ARGV(WORD("--json"), WORD("-ca,b"), WORD("--column=c")), &show),
			 0);
	assert_string_equal(show.format, "json");
	assert_int_equal(show.column.count, 3);
	assert_string_equal(show.column.texts[2], "c");
	assert_int_equal(command_read_words(command_named("show"), ARGV(WORD("--csv")), &show), 0);
	assert_string_equal(show.format, "csv");
	show_words_done(&show);
	assert_int_equal(command_read_words(command_named("show"), ARGV(WORD("--csv=plain")), &show), 0);
	assert_string_equal(show.format, "plain");
	show_words_done(&show);
	assert_int_equal(command_read_words(command_named("stats"),
					    ARGV(WORD("-c"), WORD("x,y"), WORD("--agg=max")), &stats),
			 0);
	assert_int_equal(stats.line.steps.count, 4);
	assert_string_equal(stats.line.steps.texts[0], "column");
	assert_string_equal(stats.line.steps.texts[1], "x,y");
	assert_string_equal(stats.line.steps.texts[2], "agg");
	assert_string_equal(stats.line.steps.texts[3], "max");
	stats_words_done(&stats);
}

static void a_wrong_value_is_cut_behind_sixty_bytes(void **state)
{
	char value[64], words[128];

	(void)state;
	memset(value, 'v', sizeof value);
	value[60] = '\0';
	snprintf(words, sizeof words, "--slice: '%s' is not a valid value", value);
	begin_listening();
	assert_int_equal(command_wrong_value(command_named("show"), "slice", value), EXIT_USAGE);
	end_listening(words);
	value[60] = 'v';
	value[61] = '\0';
	snprintf(words, sizeof words, "--slice: '%.60s...' is not a valid value", value);
	begin_listening();
	assert_int_equal(command_wrong_value(command_named("show"), "slice", value), EXIT_USAGE);
	end_listening(words);
}

static void lists_need_pairs_and_parts(void **state)
{
	struct text_list texts = {0}, parts = {0};

	(void)state;
	assert_int_equal(command_split(command_named("show"), "column", &texts, &parts), 0);
	assert_true(text_list_add(&texts, "a=1"));
	assert_int_equal(command_check_pairs(command_named("show"), "rename", &texts), 0);
	assert_true(text_list_add(&texts, "b,c"));
	begin_listening();
	assert_int_equal(command_check_pairs(command_named("show"), "rename", &texts), EXIT_USAGE);
	end_listening("--rename: 'b,c' is not a valid value");
	assert_int_equal(command_split(command_named("show"), "column", &texts, &parts), 0);
	assert_int_equal(parts.count, 3);
	assert_string_equal(parts.texts[2], "c");
	text_list_done(&parts);
	texts.texts[0] = ",";
	begin_listening();
	assert_int_equal(command_split(command_named("show"), "column", &texts, &parts), EXIT_USAGE);
	end_listening("--column: ',' is not a valid value");
	text_list_done(&texts);
	text_list_done(&parts);
}

/* Reads a command line, after which its files are safe. */
static void read_report(struct report_words *options, char **argv)
{
	assert_int_equal(command_read_words(command_named("report"), argv, options), 0);
}

static void try_output(int (*check)(const struct subcommand *, const char *), const char *path,
		       const char *problem)
{
	int status;

	begin_listening();
	status = check(command_named("report"), path);
	end_listening(problem);
	assert_int_equal(status, problem ? EXIT_FAULT : 0);
}

static void inputs_and_foreign_files_are_not_overwritten(void **state)
{
	static const char SAMPLE[] = "{\"timestamp_secs\":1,\"timestamp\":1,\"elapsed_secs\":1,\"sample\":0,"
				     "\"resource-tracker-version\":\"0.1\"}\n";
	struct report_words options = {0};

	(void)state;
	put_text("run.jsonl", SAMPLE);
	put_text("other.jsonl", SAMPLE);
	put_text("notes.txt", "remember the milk\n");
	put_text("page.html", "<!DOCTYPE html>\n<html></html>\n");
	put_text("empty.html", "");
	read_report(&options,
		    ARGV(WORD("before=run.jsonl"), WORD("notes.txt"), WORD("-o"), WORD("new.html")));
	try_output(command_check_output, NULL, NULL);
	try_output(command_check_output, "-", NULL);
	try_output(command_check_output, "new.html", NULL);
	try_output(command_check_output, "run.jsonl", "run.jsonl");
	try_output(command_check_output, "notes.txt", "notes.txt");
	try_output(command_check_output, "other.jsonl", "other.jsonl");
	report_words_done(&options);
	read_report(&options, ARGV(WORD("x.jsonl")));
	try_output(command_check_page, "-", NULL);
	try_output(command_check_page, "new.html", NULL);
	try_output(command_check_page, "page.html", NULL);
	try_output(command_check_page, "empty.html", NULL);
	try_output(command_check_page, "notes.txt",
		   "cannot write to notes.txt: it has content that is not an HTML page; --force replaces it");
	report_words_done(&options);
}

static void bytes_are_written_to_the_file(void **state)
{
	struct report_words options = {0};

	(void)state;
	read_report(&options, ARGV(WORD("x.jsonl")));
	assert_int_equal(command_write(command_named("report"), "out.txt", "a\033b", 3), 0);
	assert_file_text("out.txt", "a\033b");
	begin_listening();
	assert_int_equal(command_write(command_named("report"), "no/such/out.txt", "a", 1), EXIT_FAULT);
	end_listening("no/such/out.txt");
	report_words_done(&options);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_become_fields),
		cmocka_unit_test(numbers_have_limits),
		cmocka_unit_test(parts_steps_and_words_are_kept_in_order),
		cmocka_unit_test(a_wrong_value_is_cut_behind_sixty_bytes),
		cmocka_unit_test(lists_need_pairs_and_parts),
		cmocka_unit_test(inputs_and_foreign_files_are_not_overwritten),
		cmocka_unit_test(bytes_are_written_to_the_file),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
