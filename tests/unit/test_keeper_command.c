/* Tests of src/discover/keeper.c: the subcommand, with a server on the loopback. */
#include "loopback.h"

#include "base/cleanup.h"
#include "discover/keeper.h"
#include "net/settings.h"

static struct settings settings;

/* Returns the exit code. The output is in the file "out". */
static int keeper_with(const char *output, char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
		_exit(keeper_main(&settings, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define WORD(text) ((char[]){text})
#define KEEPER(...) keeper_with("out", (char *[]){WORD("keeper"), __VA_ARGS__, NULL})
#define SIZE WORD("--vcpus"), WORD("2"), WORD("--memory-mib"), WORD("512")
#define MACHINE WORD("--vendor"), WORD("aws"), WORD("--instance-type"), WORD("t3")

/* The whole answer of the command to an answer of the server, without the question. */
static char *answer_of(const char *answer, char **argv)
{
	struct loopback server;
	char *text, *rest;

	loopback_serve(&server, (const char *const[]){answer, NULL});
	settings.keeper_url = server.url;
	assert_int_equal(keeper_with("out", argv), 0);
	loopback_end(&server);
	assert_true(loopback_was_asked(&server, "X-Application-ID: resource-tracker\r\n"));
	assert_true(loopback_was_asked(&server, "Accept: application/json\r\n"));
	free(server.asked);
	text = get_file("out", NULL);
	rest = strstr(text, ",\"problem\":");
	assert_non_null(rest);
	rest = strdup(rest + 1);
	free(text);
	return rest;
}

static void assert_answer(const char *answer, char **argv, const char *expected)
{
	CLEANUP_FREE char *text = answer_of(answer, argv);

	assert_string_equal(text, expected);
}

#define OK(body) ANSWER("200 OK", "", body)

static void servers_or_the_problem_are_told(void **state)
{
	char *argv[] = {WORD("keeper"), WORD("servers"), SIZE, NULL};
	CLEANUP_FREE char *refused = NULL;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_answer(
		OK("[{\"vendor_id\":\"aws\",\"api_reference\":\"t3\",\"display_name\":\"T\",\"vcpus\":2}]"),
		argv,
		"\"problem\":null,\"servers\":[{\"vendor_id\":\"aws\",\"api_reference\":\"t3\",\"display_"
		"name\":\"T\","
		"\"vcpus\":2,\"memory_mib\":null,\"gpu_count\":null,\"price_usd_per_hour\":null,"
		"\"url\":\"https://sparecores.com/server/aws/t3\"}]}\n");
	assert_answer(OK("[{\"vendor_id\":\"aws\"}]"), argv,
		      "\"problem\":null,\"servers\":[{\"vendor_id\":\"aws\",\"api_reference\":null,\"display_"
		      "name\":null,"
		      "\"vcpus\":null,\"memory_mib\":null,\"gpu_count\":null,\"price_usd_per_hour\":null,"
		      "\"url\":null}]}\n");
	assert_answer(OK("{}"), argv,
		      "\"problem\":\"the answer does not hold a list of servers\",\"servers\":null}\n");
	refused = answer_of(ANSWER("404 Not Found", "", "[]"), argv);
	assert_non_null(strstr(refused, "404"));
	assert_non_null(strstr(refused, "\",\"servers\":null}\n"));
}

#define PRICE(region, price) \
	"{\"region_id\":" region ",\"price\":" price \
	",\"allocation\":\"ondemand\",\"operating_system\":\"Linux\"}"

static void a_price_or_the_problem_is_told(void **state)
{
	char *argv[] = {WORD("keeper"), WORD("price"), MACHINE, WORD("--region"), WORD("b"), NULL};
	CLEANUP_FREE char *refused = NULL;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_answer(OK("[" PRICE("\"a\"", "1") "," PRICE("\"b\"", "0.0123456") "]"), argv,
		      "\"problem\":null,\"price_usd_per_hour\":0.012346,\"region_id\":\"b\"}\n");
	assert_answer(OK("[" PRICE("null", "2") "]"), argv,
		      "\"problem\":null,\"price_usd_per_hour\":2.0,\"region_id\":null}\n");
	assert_answer(OK("[]"), argv,
		      "\"problem\":\"no on-demand price for Linux is "
		      "known\",\"price_usd_per_hour\":null,\"region_id\":null}\n");
	assert_answer(OK("{}"), argv,
		      "\"problem\":\"the answer does not hold a list of "
		      "prices\",\"price_usd_per_hour\":null,\"region_id\":null}\n");
	refused = answer_of(ANSWER("500 Error", "", "[" PRICE("\"b\"", "1") "]"), argv);
	assert_non_null(strstr(refused, "500"));
	assert_non_null(strstr(refused, "\",\"price_usd_per_hour\":null,\"region_id\":null}\n"));
}

static void assert_says(const char *words)
{
	char *text = get_file("err", NULL);

	if (!strstr(text, words) || strchr(text, '\n') != strrchr(text, '\n'))
		fail_msg("'%s' is not all of: %s", words, text);
	free(text);
}

static void the_question_is_told_as_well(void **state)
{
	char wanted[200];
	char *text;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	/* Nothing listens there. */
	settings.keeper_url = "http://127.0.0.1:1";
	assert_int_equal(KEEPER(WORD("servers"), WORD("--vcpus"), WORD("1"), WORD("--memory-mib"), WORD("1")),
			 0);
	assert_int_equal(KEEPER(WORD("price"), MACHINE), 0);
	text = get_file("out", NULL);
	snprintf(wanted, sizeof wanted, "{\"asked\":\"%s/server/aws/t3/prices\",\"problem\":\"",
		 settings.keeper_url);
	assert_ptr_equal(strstr(text, wanted), text);
	free(text);
	assert_int_equal(keeper_with("/dev/full", (char *[]){WORD("keeper"), WORD("price"), MACHINE, NULL}),
			 1);
}

static void a_question_without_its_words_is_refused(void **state)
{
	static char long_type[9000];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	settings.keeper_url = "http://127.0.0.1:1";
	memset(long_type, 'x', sizeof long_type - 1);
	assert_int_equal(KEEPER(NULL), 2);
	assert_says("give servers with --vcpus and --memory-mib, or price with --vendor and --instance-type");
	assert_int_equal(KEEPER(WORD("others"), SIZE, MACHINE), 2);
	assert_int_equal(KEEPER(WORD("servers")), 2);
	assert_int_equal(KEEPER(WORD("servers"), WORD("--vcpus"), WORD("2")), 2);
	assert_int_equal(KEEPER(WORD("servers"), WORD("--memory-mib"), WORD("2")), 2);
	assert_int_equal(KEEPER(WORD("servers"), MACHINE), 2);
	assert_int_equal(KEEPER(WORD("servers"), WORD("price"), SIZE), 2);
	assert_int_equal(KEEPER(WORD("servers"), SIZE, WORD("--no-such-option")), 2);
	assert_says("--no-such-option");
	assert_int_equal(KEEPER(WORD("price"), WORD("--vendor"), WORD("aws")), 2);
	assert_int_equal(KEEPER(WORD("price"), WORD("--instance-type"), WORD("t3")), 2);
	assert_int_equal(KEEPER(WORD("price"), SIZE), 2);
	assert_int_equal(
		KEEPER(WORD("price"), WORD("--vendor"), WORD("aws"), WORD("--instance-type"), long_type), 2);
	assert_says("the question is too long");
	assert_file_text("out", "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(servers_or_the_problem_are_told),
		unit_test_in_scratch(a_price_or_the_problem_is_told),
		unit_test_in_scratch(the_question_is_told_as_well),
		unit_test_in_scratch(a_question_without_its_words_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
