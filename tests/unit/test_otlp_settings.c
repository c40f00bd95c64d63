/* Tests of src/stream/otlp_settings.c: the variables of OpenTelemetry, and ours. */
#include "captured.h"

#include <errno.h>

#include "base/clock.h"
#include "format/otlp_series.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "stream/otlp_settings.h"

static int enter(void **state)
{
	forget_variables();
	message_enable(true);
	return capture_streams(state);
}

static int leave(void **state)
{
	forget_variables();
	message_enable(false);
	return free_streams(state);
}

static struct settings settings;

static const struct otlp_settings *read_settings(void)
{
	settings = (struct settings){.upload_interval_ns = 7};
	assert_int_equal(otlp_settings_use(&settings), 0);
	assert_non_null(settings.of_destination);
	return settings.of_destination;
}

static const struct otlp_settings *read_with(const char *name, const char *value)
{
	forget_variables();
	setenv(name, value, 1);
	return read_settings();
}

static void expect_refusal(const char *name, const char *value, const char *rule)
{
	char message[200];

	forget_variables();
	setenv(name, value, 1);
	settings = (struct settings){0};
	assert_int_equal(otlp_settings_use(&settings), -EINVAL);
	assert_null(settings.of_destination);
	snprintf(message, sizeof message, "resource-tracker: %s is invalid: it must be %s\n", name, rule);
	assert_printed("err", message);
}

static void without_variables_all_has_a_default(void **state)
{
	const struct otlp_settings *otlp = read_settings();

	(void)state;
	assert_string_equal(otlp->metrics.url, "http://localhost:4318/v1/metrics");
	assert_string_equal(otlp->logs.url, "http://localhost:4318/v1/logs");
	assert_true(otlp->metrics.on && otlp->logs.on && otlp->metrics.gzip && otlp->logs.gzip);
	assert_false(otlp->metrics.has_own_url || otlp->logs.has_own_url);
	assert_int_equal(otlp->metrics.timeout_ms, 10000);
	assert_int_equal(otlp->logs.timeout_ms, 10000);
	assert_int_equal(otlp->metrics.header_count + otlp->logs.header_count, 0);
	assert_null(otlp->metrics.certificate);
	assert_int_equal(otlp->step_ns, 15 * NSEC_PER_SEC);
	assert_int_equal(otlp->extras, 0);
	assert_int_equal(settings.upload_interval_ns, 15 * NSEC_PER_SEC);
	assert_printed("err", "");
}

static void addresses_are_joined_or_used_as_they_are(void **state)
{
	const struct otlp_settings *otlp;

	(void)state;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h/x//", 1);
	setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://l/", 1);
	otlp = read_settings();
	assert_string_equal(otlp->metrics.url, "https://h/x/v1/metrics");
	assert_false(otlp->metrics.has_own_url);
	assert_string_equal(otlp->logs.url, "http://l/");
	assert_true(otlp->logs.has_own_url);
	expect_refusal("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318",
		       "an address with http:// or https://");
	expect_refusal("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "x", "an address with http:// or https://");
	expect_refusal("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "x", "an address with http:// or https://");
}

static void a_signal_can_be_left_out(void **state)
{
	const struct otlp_settings *otlp = read_with("OTEL_METRICS_EXPORTER", "none");

	(void)state;
	assert_true(!otlp->metrics.on && otlp->logs.on);
	otlp = read_with("OTEL_LOGS_EXPORTER", "none");
	assert_true(otlp->metrics.on && !otlp->logs.on);
	otlp = read_with("OTEL_LOGS_EXPORTER", "otlp");
	assert_true(otlp->logs.on);
}

static void compression_and_protocol_have_few_values(void **state)
{
	const struct otlp_settings *otlp = read_with("OTEL_EXPORTER_OTLP_COMPRESSION", "none");

	(void)state;
	assert_false(otlp->metrics.gzip || otlp->logs.gzip);
	otlp = read_with("OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "none");
	assert_true(otlp->metrics.gzip && !otlp->logs.gzip);
	otlp = read_with("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
	assert_true(otlp->metrics.gzip && otlp->logs.gzip);
	expect_refusal("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none");
	(void)read_with("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
	assert_printed("err", "");
	(void)read_with("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "grpc");
	assert_printed_has("err", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=grpc: only http/protobuf is spoken");
	otlp = read_with("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem");
	assert_string_equal(otlp->metrics.certificate, "ca.pem");
	assert_string_equal(otlp->logs.certificate, "ca.pem");
}

static void headers_are_pairs(void **state)
{
	static const char RULE[] = "KEY=VALUE,KEY=VALUE, at most 16", NAME[] = "OTEL_EXPORTER_OTLP_HEADERS";
	const struct otlp_settings *otlp = read_with(NAME, "api-key=s%20ecret,x=1");
	char many[200] = "";

	(void)state;
	assert_int_equal(otlp->metrics.header_count, 2);
	assert_string_equal(otlp->metrics.headers[0], "api-key: s ecret");
	assert_string_equal(otlp->metrics.headers[1], "x: 1");
	assert_int_equal(otlp->logs.header_count, 2);
	/* A value is a secret in each message. */
	say_redacted("it said s ecret");
	assert_printed_lacks("err", "s ecret");
	assert_int_equal(truncate("err", 0), 0);
	/* Those of an earlier call go. */
	otlp = read_with("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "a=b");
	assert_int_equal(otlp->metrics.header_count, 0);
	assert_int_equal(otlp->logs.header_count, 1);
	for (int i = 0; i < 16; i++)
		snprintf(many + strlen(many), sizeof many - strlen(many), "%sk%d=v", i ? "," : "", i);
	otlp = read_with(NAME, many);
	assert_int_equal(otlp->metrics.header_count, 16);
	assert_string_equal(otlp->metrics.headers[15], "k15: v");
	snprintf(many + strlen(many), sizeof many - strlen(many), ",more=v");
	expect_refusal(NAME, many, RULE);
	expect_refusal(NAME, "no pair", RULE);
	expect_refusal(NAME, "a b=c", RULE);
	expect_refusal(NAME, "a:=c", RULE);
	expect_refusal(NAME, "a%0a=c", RULE);
	expect_refusal(NAME, "a=c%0d%0aHost: x", RULE);
	expect_refusal(NAME, "a=%1f", RULE);
	expect_refusal(NAME, "a=%7f", RULE);
	otlp = read_with(NAME, "a=%7e%20%c3%bc");
	assert_string_equal(otlp->metrics.headers[0], "a: ~ \xc3\xbc");
}

static void a_timeout_is_in_milliseconds(void **state)
{
	static const char RULE[] = "a number of milliseconds", NAME[] = "OTEL_EXPORTER_OTLP_TIMEOUT";

	(void)state;
	assert_int_equal(read_with(NAME, "1")->metrics.timeout_ms, 1);
	assert_int_equal(read_with(NAME, "600000")->logs.timeout_ms, 600000);
	assert_int_equal(read_with(NAME, "600001")->logs.timeout_ms, 600000);
	assert_int_equal(read_with(NAME, "599999")->logs.timeout_ms, 599999);
	assert_int_equal(read_with("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "5")->metrics.timeout_ms, 10000);
	expect_refusal(NAME, "0", RULE);
	expect_refusal(NAME, "10s", RULE);
	expect_refusal(NAME, "-1", RULE);
	expect_refusal(NAME, "x", RULE);
}

/* A request for each step, but at least one a minute and at most four a second. */
static void a_step_is_also_the_interval(void **state)
{
	static const struct {
		const char *step;
		int64_t step_ms, interval_ms;
	} CASES[] = {
		{"0", 0, 15000},      {"0.1", 100, 250},      {"250ms", 250, 250},     {"30", 30000, 30000},
		{"60", 60000, 60000}, {"10m", 600000, 60000}, {"1d", 86400000, 60000},
	};
	static const char RULE[] = "a length of time up to a day";

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_int_equal(read_with("TRACKER_OTLP_STEP", CASES[i].step)->step_ns,
				 CASES[i].step_ms * NSEC_PER_MSEC);
		assert_int_equal(settings.upload_interval_ns, CASES[i].interval_ms * NSEC_PER_MSEC);
	}
	expect_refusal("TRACKER_OTLP_STEP", "86401", RULE);
	expect_refusal("TRACKER_OTLP_STEP", "-1", RULE);
	expect_refusal("TRACKER_OTLP_STEP", "often", RULE);
	/* The user's own. */
	(void)read_with("TRACKER_UPLOAD_INTERVAL", "3");
	assert_int_equal(settings.upload_interval_ns, 7);
}

static void more_series_are_asked_for(void **state)
{
	(void)state;
	expect_refusal("TRACKER_OTLP_MACHINE", "maybe", "yes or no");
	expect_refusal("TRACKER_OTLP_PROGRAMS", "maybe", "yes or no");
	assert_int_equal(read_with("TRACKER_OTLP_MACHINE", "0")->extras, 0);
	assert_int_equal(read_with("TRACKER_OTLP_MACHINE", "1")->extras, OTLP_WITH_MACHINE);
	/* Those of an earlier call go. */
	assert_int_equal(read_with("TRACKER_OTLP_PROGRAMS", "yes")->extras, OTLP_WITH_PROGRAMS);
}

static void attributes_of_the_environment_leave_the_identity(void **state)
{
	struct otlp_resource resource = OTLP_RESOURCE;

	(void)state;
	otlp_resource_set(&resource, "service.instance.id", "run-1");
	setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=other,team=t,service.name=first", 1);
	setenv("OTEL_SERVICE_NAME", "mine", 1);
	otlp_set_given_attributes(&resource);
	assert_string_equal(otlp_resource_get(&resource, "service.instance.id"), "run-1");
	assert_string_equal(otlp_resource_get(&resource, "team"), "t");
	assert_string_equal(otlp_resource_get(&resource, "service.name"), "mine");
	assert_printed("err", "");
	setenv("OTEL_RESOURCE_ATTRIBUTES", "odd,rank=1", 1);
	otlp_set_given_attributes(&resource);
	assert_string_equal(otlp_resource_get(&resource, "rank"), "1");
	assert_printed_has("err", "OTEL_RESOURCE_ATTRIBUTES: a pair without");
	otlp_resource_done(&resource);
}

#define unit_test_of_settings(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_settings(without_variables_all_has_a_default),
		unit_test_of_settings(addresses_are_joined_or_used_as_they_are),
		unit_test_of_settings(a_signal_can_be_left_out),
		unit_test_of_settings(compression_and_protocol_have_few_values),
		unit_test_of_settings(headers_are_pairs),
		unit_test_of_settings(a_timeout_is_in_milliseconds),
		unit_test_of_settings(a_step_is_also_the_interval),
		unit_test_of_settings(more_series_are_asked_for),
		unit_test_of_settings(attributes_of_the_environment_leave_the_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
