/* Feeds server answers to every parser of them; the first byte chooses which. */
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/gzip.h"
#include "discover/cloud_answers.h"
#include "discover/keeper.h"
#include "net/redacted_message.h"
#include "stream/s3.h"
#include "stream/sentinel_text.h"
#include "net/timestamps.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must_hold(bool holds)
{
	if (!holds)
		abort();
}

static void feed_sentinel(const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct registration registration = {0};
	struct credentials credentials = {0};
	const char *wrong = NULL;

	if (parse_registration(text, length, &registration, &wrong) == 0)
		must_hold(*registration.run_id && *registration.credentials.secret_key &&
			  !strpbrk(registration.run_id, " \r\n") &&
			  !strpbrk(registration.uri_prefix, "\r\n"));
	else
		must_hold(wrong != NULL);
	registration_done(&registration);
	if (parse_credentials(text, length, &credentials, &wrong) == 0)
		credentials_done(&credentials);
	add_error_detail(&out, text, length);
}

static void feed_s3(const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct s3_error error;
	struct s3_uri uri;

	s3_parse_error(text, length, &error);
	must_hold(!*error.region || s3_is_region(error.region));
	if (parse_s3_uri(text, length, &uri) < 0)
		return;
	s3_url(&out, "http://h", "eu-west-1", &uri, "x/000000.csv.gz");
	for (size_t i = 0; i < out.length; i++)
		must_hold((unsigned char)out.data[i] > ' ' && (unsigned char)out.data[i] < 0x7f);
}

static void feed_clouds(const char *text, size_t length)
{
	for (size_t i = 0; i < CLOUD_VENDOR_COUNT; i++)
		for (size_t j = 0; j < CLOUD_VENDORS[i].step_count; j++) {
			static struct cloud_reading reading;

			memset(&reading, 0, sizeof(reading));
			if (CLOUD_VENDORS[i].steps[j].take(&reading, text, length))
				must_hold(!strpbrk(reading.token, " \r\n"));
		}
}

static void feed_keeper(const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	char region[KEEPER_REGION_SIZE];
	double price;

	keeper_add_servers(&out, text, length);
	keeper_find_price(text, length, "eu-west-1", &price, region);
}

static void feed_headers(const char *text, size_t length)
{
	struct http_answer answer = {.status = 503, .headers = BUFFER(1 << 20)};
	struct outcome outcome;
	char value[64];

	buffer_add(&answer.headers, text, length);
	if (http_header(&answer, "x-amz-bucket-region", value, sizeof(value)))
		must_hold(!strchr(value, '\n'));
	must_hold(http_retry_after_secs(&answer) >= -1 && http_retry_after_secs(&answer) <= 300);
	outcome_of_answer(&answer, &outcome);
	must_hold(outcome.verdict == VERDICT_RETRY && strlen(outcome.reason) < sizeof(outcome.reason));
	answer.status = 302;
	outcome_of_answer(&answer, &outcome);
	must_hold(outcome.verdict == VERDICT_REFUSED && !strchr(outcome.reason, '\n'));
	http_answer_done(&answer);
}

static void fuzz_http_date(const char *text, size_t length)
{
	char header[64];
	int64_t secs;

	snprintf(header, sizeof header, "%.*s", (int)(length < sizeof header ? length : sizeof header - 1),
		 text);
	parse_http_date(header, &secs);
}

static void feed_rest(const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer plain = BUFFER(1 << 20), line = BUFFER(1 << 20);
	struct spool_state state;
	int64_t secs;

	feed_headers(text, length);
	parse_iso8601(text, length, &secs);
	fuzz_http_date(text, length);
	gunzip(text, length, &plain);
	add_redacted(&line, text, length, 1000);
	for (size_t i = 0; i < line.length; i++)
		must_hold((unsigned char)line.data[i] >= ' ');
	if (spool_state_parse(text, length, &state) == 0)
		spool_state_done(&state);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static void (*const FEEDERS[])(const char *, size_t) = {feed_sentinel, feed_s3, feed_clouds,
								feed_keeper, feed_rest};

	if (length)
		FEEDERS[bytes[0] % (sizeof(FEEDERS) / sizeof(FEEDERS[0]))]((const char *)bytes + 1,
									   length - 1);
	return 0;
}
