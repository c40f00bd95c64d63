/* Asks the metadata services. See cloud.h. cloud_vendors.c lists them. */
#include "discover/cloud.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/uri.h"

enum { REQUEST_TIMEOUT_MS = 1000, DISCOVERY_TIMEOUT_MS = 3000, MOST_ANSWER_BYTES = 256 << 10 };

struct probe {
	const struct cloud_vendor *vendor;
	size_t step;
	bool over;     /* no more steps */
	bool believed; /* all steps that are not optional went well */
	struct cloud_reading reading;
	struct http_answer answer;
	struct http_transfer *transfer;
	struct buffer url;
	struct buffer token_header;
};

/* ---- the firmware ----------------------------------------------------------------------------------- */

enum match { NO_MATCH, VAGUE_MATCH, MATCH };

static enum match match_vendor(const struct cloud_vendor *vendor, const struct sys_dmi *dmi)
{
	enum match best = NO_MATCH;

	for (size_t i = 0; i < vendor->mark_count; i++) {
		const struct cloud_mark *mark = &vendor->marks[i];
		const char *text = (const char *)dmi + mark->offset;
		bool matches = mark->whole ? strcmp(text, mark->text) == 0
					   : strncmp(text, mark->text, strlen(mark->text)) == 0;

		if (matches && best < (mark->vague ? VAGUE_MATCH : MATCH))
			best = mark->vague ? VAGUE_MATCH : MATCH;
	}
	return best;
}

size_t cloud_candidates(const struct sys_dmi *dmi, bool ret_candidates[CLOUD_MOST_VENDORS])
{
	enum match matches[CLOUD_MOST_VENDORS], best = VAGUE_MATCH;
	size_t count = 0;

	for (size_t i = 0; i < CLOUD_VENDOR_COUNT; i++) {
		matches[i] = dmi ? match_vendor(&CLOUD_VENDORS[i], dmi) : VAGUE_MATCH;
		if (matches[i] > best)
			best = matches[i];
	}
	for (size_t i = 0; i < CLOUD_VENDOR_COUNT; i++) {
		ret_candidates[i] = matches[i] == best;
		count += ret_candidates[i];
	}
	return count;
}

/* ---- one vendor ------------------------------------------------------------------------------------- */

static void end_probe(struct probe *probe, bool believed)
{
	probe->over = true;
	probe->believed = probe->believed || believed;
}

static void start_step(struct http_client *http, struct probe *probe, const char *metadata_url)
{
	const struct cloud_step *step = &probe->vendor->steps[probe->step];
	struct http_request request = {
		.method = step->method ? step->method : "GET",
		.body = step->body,
		.body_length = step->body ? strlen(step->body) : 0,
		.connect_timeout_ms = REQUEST_TIMEOUT_MS,
		.total_timeout_ms = REQUEST_TIMEOUT_MS,
		.most_answer_bytes = MOST_ANSWER_BYTES,
		.direct = true,
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(step->headers) && step->headers[i]; i++)
		request.headers[count++] = step->headers[i];
	buffer_clear(&probe->url);
	buffer_clear(&probe->token_header);
	url_moved_to(&probe->url, step->url, metadata_url);
	if (step->token_header && probe->reading.token[0]) {
		buffer_printf(&probe->token_header, "%s%s", step->token_header, probe->reading.token);
		request.headers[count] = probe->token_header.data;
	}
	request.url = probe->url.data;
	if (buffer_error(&probe->url) || buffer_error(&probe->token_header) ||
	    http_start(http, &request, &probe->answer, probe, &probe->transfer) < 0)
		end_probe(probe, false);
}

static bool has_answer_header(const struct http_answer *answer, const struct cloud_step *step)
{
	char value[64];

	if (!step->answer_header)
		return true;
	return http_header(answer, step->answer_header, value, sizeof(value)) &&
	       strcmp(value, step->answer_value) == 0;
}

static bool take_answer(struct probe *probe)
{
	const struct cloud_step *step = &probe->vendor->steps[probe->step];
	const struct http_answer *answer = &probe->answer;

	return !answer->error && answer->status >= 200 && answer->status < 300 &&
	       has_answer_header(answer, step) &&
	       step->take(&probe->reading, answer->body.data ? answer->body.data : "", answer->body.length);
}

/* A step is over: go to the next one, or to the end. */
static void next_step(struct http_client *http, struct probe *probe, const char *metadata_url)
{
	const struct cloud_step *step = &probe->vendor->steps[probe->step];
	/*
	 * Whether the service is absent: one that refuses a token still answers, an absent one cannot be reached.
	 */
	bool unreachable = probe->answer.error && probe->step == 0;
	bool taken = take_answer(probe);

	http_transfer_free(probe->transfer);
	probe->transfer = NULL;
	if (!taken && !step->optional && (!step->may_fail || unreachable)) {
		end_probe(probe, false);
		return;
	}
	probe->step++;
	if (probe->step == probe->vendor->step_count) {
		end_probe(probe, true);
		return;
	}
	probe->believed = probe->vendor->steps[probe->step].optional;
	start_step(http, probe, metadata_url);
}

static void free_probe(struct probe *probe)
{
	http_transfer_free(probe->transfer);
	http_answer_done(&probe->answer);
	buffer_done(&probe->url);
	buffer_done(&probe->token_header);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

/* Returns the winner as soon as it is certain: every vendor before it has failed. */
static const struct probe *winning_probe(const struct probe *probes, size_t count, bool time_is_up)
{
	for (size_t i = 0; i < count; i++) {
		if (!probes[i].over && !time_is_up)
			return NULL;
		if (probes[i].believed)
			return &probes[i];
	}
	return NULL;
}

static bool all_over(const struct probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!probes[i].over)
			return false;
	return true;
}

static const struct probe *ask_probes(struct http_client *http, struct probe *probes, size_t count,
				      const char *metadata_url)
{
	int64_t until_ns = monotonic_ns() + DISCOVERY_TIMEOUT_MS * NSEC_PER_MSEC;
	const struct probe *won = NULL;

	for (size_t i = 0; i < count; i++)
		start_step(http, &probes[i], metadata_url);
	while (!won && !all_over(probes, count)) {
		struct http_transfer *transfer = http_next_done(http, until_ns);

		if (!transfer)
			return winning_probe(probes, count, true);
		next_step(http, http_context(transfer), metadata_url);
		won = winning_probe(probes, count, false);
	}
	return won;
}

void cloud_discover(struct http_client *http, const struct sys_dmi *dmi, const char *metadata_url,
		    struct facts *facts)
{
	bool candidates[CLOUD_MOST_VENDORS];
	size_t count = cloud_candidates(dmi, candidates), at = 0;
	CLEANUP_FREE struct probe *probes = count ? calloc(count, sizeof(*probes)) : NULL;
	const struct probe *won;

	if (!probes)
		return;
	for (size_t i = 0; i < CLOUD_VENDOR_COUNT; i++) {
		if (!candidates[i])
			continue;
		probes[at].vendor = &CLOUD_VENDORS[i];
		probes[at].url = BUFFER(2 << 10);
		probes[at].token_header = BUFFER(8 << 10);
		at++;
	}
	won = ask_probes(http, probes, count, metadata_url);
	if (won) {
		for (enum fact_id id = CLOUD_VENDOR_ID; id < FACTS; id++)
			facts->items[id] = won->reading.facts.items[id];
		fact_set_text(facts, CLOUD_VENDOR_ID, won->vendor->id, strlen(won->vendor->id));
	}
	for (size_t i = 0; i < count; i++)
		free_probe(&probes[i]);
}
