/* Tests of src/net/settings.c, and of the words of src/net/arguments.c: what is taken, and what is refused. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "net/arguments.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "options/usage.h"

static const char *const VARIABLES[] = {
	"SENTINEL_API_TOKEN",   "SENTINEL_API_URL", "AWS_ENDPOINT_URL_S3",     "AWS_ENDPOINT_URL",
	"TRACKER_METADATA_URL", "KEEPER_API_URL",   "TRACKER_UPLOAD_INTERVAL", "TRACKER_SOME_SWITCH"};

static int forget_variables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(VARIABLES) / sizeof(VARIABLES[0]); i++)
		unsetenv(VARIABLES[i]);
	message_enable(false);
	return 0;
}

static struct settings read_settings(void)
{
	struct settings settings;
	const char *wrong = "";

	assert_int_equal(settings_read(&settings, &wrong), 0);
	assert_string_equal(wrong, "");
	return settings;
}

static void without_variables_the_known_servers(void **state)
{
	struct settings settings = read_settings();

	(void)state;
	assert_null(settings.token);
	assert_null(settings.s3_endpoint);
	assert_null(settings.metadata_url);
	assert_string_equal(settings.sentinel_url, "https://api.sentinel.sparecores.net");
	assert_string_equal(settings.keeper_url, "https://keeper.sparecores.net");
	assert_int_equal(settings.upload_interval_ns, 60 * NSEC_PER_SEC);
	setenv("SENTINEL_API_URL", "", 1);
	assert_string_equal(read_settings().sentinel_url, "https://api.sentinel.sparecores.net");
}

static void addresses_must_be_of_the_web(void **state)
{
	struct settings settings;
	const char *wrong = "";

	(void)state;
	for (size_t i = 1; i < 6; i++) {
		setenv(VARIABLES[i], "ftp://127.0.0.1", 1);
		assert_int_equal(settings_read(&settings, &wrong), -EINVAL);
		assert_string_equal(wrong, VARIABLES[i]);
		unsetenv(VARIABLES[i]);
	}
	for (size_t i = 1; i < 6; i++)
		setenv(VARIABLES[i], "http://127.0.0.1:1", 1);
	settings = read_settings();
	assert_string_equal(settings.sentinel_url, "http://127.0.0.1:1");
	assert_string_equal(settings.metadata_url, "http://127.0.0.1:1");
	assert_string_equal(settings.keeper_url, "http://127.0.0.1:1");
	/* The more special name wins. */
	setenv("AWS_ENDPOINT_URL", "http://127.0.0.2", 1);
	assert_string_equal(read_settings().s3_endpoint, "http://127.0.0.1:1");
	unsetenv("AWS_ENDPOINT_URL_S3");
	assert_string_equal(read_settings().s3_endpoint, "http://127.0.0.2");
}

static void a_token_is_one_word(void **state)
{
	struct settings settings;
	const char *wrong = "";

	(void)state;
	setenv("SENTINEL_API_TOKEN", " abc-def!~ \n", 1);
	assert_string_equal(read_settings().token, "abc-def!~");
	setenv("SENTINEL_API_TOKEN", " \n", 1);
	assert_null(read_settings().token);
	for (size_t i = 0; i < 3; i++) {
		static const char *const BAD[] = {"a b", "a\x7f", "a\xc3\xa4"};

		setenv("SENTINEL_API_TOKEN", BAD[i], 1);
		assert_int_equal(settings_read(&settings, &wrong), -EINVAL);
		assert_string_equal(wrong, "SENTINEL_API_TOKEN");
	}
}

static int64_t interval_of(const char *text)
{
	setenv("TRACKER_UPLOAD_INTERVAL", text, 1);
	return read_settings().upload_interval_ns;
}

static void intervals_have_limits(void **state)
{
	(void)state;
	assert_int_equal(interval_of("2"), 2 * NSEC_PER_SEC);
	assert_int_equal(interval_of("300ms"), 300 * NSEC_PER_MSEC);
	assert_int_equal(interval_of("250ms"), 250 * NSEC_PER_MSEC);
	assert_int_equal(interval_of("0"), 250 * NSEC_PER_MSEC);
	assert_int_equal(interval_of("86400"), 86400 * NSEC_PER_SEC);
	assert_int_equal(interval_of("86401"), 60 * NSEC_PER_SEC);
	assert_int_equal(interval_of("-1"), 60 * NSEC_PER_SEC);
	assert_int_equal(interval_of("often"), 60 * NSEC_PER_SEC);
}

static bool is_off(const char *text)
{
	setenv("TRACKER_SOME_SWITCH", text, 1);
	return env_is_off("TRACKER_SOME_SWITCH");
}

static void words_for_off(void **state)
{
	(void)state;
	assert_true(is_off("0") && is_off("false") && is_off("No") && is_off("OFF"));
	assert_false(is_off("1") || is_off("") || is_off("offline") || is_off("yes"));
}

/* ---- arguments ---------------------------------------------------------------------------------------------- */

#define PARSE(ret, ...) arguments_parse(ret, (char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})

static void words_of_a_follower(void **state)
{
	struct arguments arguments;

	(void)state;
	assert_int_equal(PARSE(&arguments, "follow", "a.jsonl"), 0);
	assert_int_equal(arguments.operand_count, 1);
	assert_string_equal(arguments.operands[0], "a.jsonl");
	assert_string_equal(arguments.root, "/");
	assert_int_equal(arguments.end_fd, -1);
	assert_int_equal(arguments.pid, 0);
	assert_int_equal(arguments.deadline_ns, 10 * NSEC_PER_SEC);
	assert_null(arguments.stream);
	assert_false(arguments.disposable || arguments.report);
	assert_int_equal(PARSE(&arguments, "follow", "--from", "7", "--end-fd=3", "--disposable", "--report",
			       "--upload-deadline", "1.5", "--stream=otlp", "--root", "/x", "--spool", "s",
			       "a"),
			 0);
	assert_int_equal(arguments.from, 7);
	assert_int_equal(arguments.end_fd, 3);
	assert_true(arguments.disposable && arguments.report);
	assert_int_equal(arguments.deadline_ns, 1500 * NSEC_PER_MSEC);
	assert_string_equal(arguments.stream, "otlp");
	assert_string_equal(arguments.root, "/x");
	assert_string_equal(arguments.spool, "s");
	assert_int_equal(PARSE(&arguments, "follow", "--pid", "12", "--upload-deadline=86400", "a"), 0);
	assert_int_equal(arguments.pid, 12);
	assert_int_equal(arguments.deadline_ns, 86400 * NSEC_PER_SEC);
}

/* The least and the most of each number, and those beyond. */
static void numbers_have_limits(void **state)
{
	static const struct {
		const char *subcommand, *good, *bad;
	} CASES[] = {
		{"follow", "--pid=1", "--pid=0"},
		{"follow", "--pid=2147483647", "--pid=2147483648"},
		{"follow", "--end-fd=0", "--end-fd=-1"},
		{"follow", "--end-fd=2147483647", "--end-fd=2147483648"},
		{"follow", "--from=9223372036854775807", "--from=-1"},
		{"follow", "--upload-deadline=86400", "--upload-deadline=86401"},
		{"keeper", "--vcpus=1048576", "--vcpus=1048577"},
		{"keeper", "--gpus=1048576", "--gpus=1048577"},
		{"keeper", "--limit=1000", "--limit=1001"},
		{"keeper", "--memory-mib=1000000000000", "--memory-mib=1000000000001"},
		{"keeper", "--gpu-memory-mib=1000000000000", "--gpu-memory-mib=1000000000001"},
		{"keeper", "--memory-mib=0", "--memory-mib=-1"},
	};
	struct arguments arguments;

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_int_equal(PARSE(&arguments, CASES[i].subcommand, CASES[i].good, "servers"), 0);
		assert_true(PARSE(&arguments, CASES[i].subcommand, CASES[i].bad, "servers") < 0);
	}
}

static void words_that_are_refused(void **state)
{
	static const char *const BAD[] = {"--from=-1",
					  "--from=1x",
					  "--from=",
					  "--end-fd=2147483648",
					  "--end-fd=a",
					  "--pid=0",
					  "--pid=2147483648",
					  "--upload-deadline=86401",
					  "--upload-deadline=-1",
					  "--upload-deadline=x",
					  "--stream=nowhere",
					  "--spool=",
					  "--root=",
					  "--nonsense"};
	struct arguments arguments = {.from = 42};

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		if (PARSE(&arguments, "follow", BAD[i], "a") != -EINVAL)
			fail_msg("%s is taken", BAD[i]);
		assert_int_equal(arguments.from, 42);
	}
	assert_int_equal(arguments_refuse("follow", "is odd"), EXIT_USAGE);
	assert_int_equal(arguments_refuse("upload", "is odd"), EXIT_USAGE);
}

static void words_for_the_keeper(void **state)
{
	struct arguments arguments;
	char filter[] = "k=v";
	char *many[40] = {(char *)(uintptr_t) "keeper"};

	(void)state;
	assert_int_equal(PARSE(&arguments, "keeper", "servers", "--vcpus=1048576", "--memory-mib", "1e12",
			       "--gpus=2", "--gpu-memory-mib=0.5", "--limit=1000", "--filter", "a=b"),
			 0);
	assert_int_equal(arguments.vcpus, 1 << 20);
	assert_true(arguments.memory_mib == 1e12 && arguments.gpu_memory_mib == 0.5);
	assert_int_equal(arguments.limit, 1000);
	assert_int_equal(arguments.filter_count, 1);
	assert_int_equal(PARSE(&arguments, "keeper", "--vcpus=1048577"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--memory-mib=2e12"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--memory-mib=-1"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--memory-mib=1g"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--limit=1001"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--filter=ab"), -EINVAL);
	assert_int_equal(PARSE(&arguments, "keeper", "--filter==b"), -EINVAL);
	/* As many filters and files as there is room for, and none more. */
	for (int i = 1; i <= MOST_FILTERS * 2; i += 2) {
		many[i] = (char *)(uintptr_t) "--filter";
		many[i + 1] = filter;
	}
	assert_int_equal(arguments_parse(&arguments, many), 0);
	assert_int_equal(arguments.filter_count, MOST_FILTERS);
	many[MOST_FILTERS * 2 + 1] = (char *)(uintptr_t) "--filter";
	many[MOST_FILTERS * 2 + 2] = filter;
	assert_int_equal(arguments_parse(&arguments, many), -EINVAL);
}

static void files_up_to_a_limit(void **state)
{
	char *words[MOST_OPERANDS + 3] = {(char *)(uintptr_t) "upload"};
	struct arguments arguments;
	char file[] = "f";

	(void)state;
	for (int i = 1; i <= MOST_OPERANDS; i++)
		words[i] = file;
	assert_int_equal(arguments_parse(&arguments, words), 0);
	assert_int_equal(arguments.operand_count, MOST_OPERANDS);
	words[MOST_OPERANDS + 1] = file;
	assert_int_equal(arguments_parse(&arguments, words), -EINVAL);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_variables_the_known_servers, forget_variables),
		cmocka_unit_test_setup(addresses_must_be_of_the_web, forget_variables),
		cmocka_unit_test_setup(a_token_is_one_word, forget_variables),
		cmocka_unit_test_setup(intervals_have_limits, forget_variables),
		cmocka_unit_test_setup(words_for_off, forget_variables),
		cmocka_unit_test_setup(words_of_a_follower, forget_variables),
		cmocka_unit_test_setup(numbers_have_limits, forget_variables),
		cmocka_unit_test_setup(words_that_are_refused, forget_variables),
		cmocka_unit_test_setup(words_for_the_keeper, forget_variables),
		cmocka_unit_test_setup(files_up_to_a_limit, forget_variables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
