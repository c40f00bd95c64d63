/* Feeds src/format/otlp_*.c: 'a' messages, 'b' resource attributes, 'c' the state of a run, 'd' samples. */
#include "fuzz.h"

#include "format/json_decode.h"
#include "format/otlp_encode.h"
#include "format/otlp_wire.h"
#include "metric/typed_rows.h"

/* Every field of every message that the bytes may hold. */
static void walk(struct scan message, int depth)
{
	struct otlp_field field;

	while (otlp_next_field(&message, &field) > 0) {
		if (field.wire != WIRE_BYTES)
			continue;
		must_hold(field.bytes.end <= message.at);
		if (depth < 8)
			walk(field.bytes, depth + 1);
	}
}

static void feed_message(const char *bytes, size_t length)
{
	struct scan text = {bytes, bytes};
	int64_t rejected = 0;

	walk(scan_bytes(bytes, length), 0);
	must_hold(otlp_count_points(bytes, length) <= (int64_t)length);
	if (otlp_parse_answer(bytes, length, &rejected, &text) == 0 && scan_left(&text))
		must_lie_in(&text, bytes, length);
}

/* The text of a resource is read back as the same resource. */
static void feed_resource(const char *bytes, size_t length)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 20), again = BUFFER(1 << 20),
				     message = BUFFER(1 << 20);
	struct otlp_resource resource = OTLP_RESOURCE, other = OTLP_RESOURCE;

	(void)otlp_resource_parse(&resource, bytes, length);
	otlp_resource_format(&resource, &text);
	must_hold(otlp_resource_parse(&other, text.data ? text.data : "", text.length) == 0);
	otlp_resource_format(&other, &again);
	must_hold(text.length == again.length &&
		  (!text.length || memcmp(text.data, again.data, text.length) == 0));
	otlp_resource_encode(&resource, &message, 1);
	walk(scan_bytes(message.data, message.length), 0);
	otlp_resource_done(&resource);
	otlp_resource_done(&other);
}

static void feed_state(const char *bytes, size_t length)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 20), again = BUFFER(1 << 20);
	struct otlp_run run, other;

	if (otlp_run_parse(bytes, length, &run) < 0)
		return;
	otlp_run_format(&run, &text);
	must_hold(otlp_run_parse(text.data, text.length, &other) == 0);
	otlp_run_format(&other, &again);
	must_hold(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
}

static int64_t size_of(const struct otlp_set *set)
{
	int64_t size = 0;

	for (size_t i = 0; i < OTLP_SLOT_WORDS; i++)
		size += __builtin_popcountll(set->words[i]);
	return size;
}

static int64_t points_in(const struct otlp_batch *batch)
{
	int64_t points = size_of(&batch->zero) + size_of(&batch->stale);

	for (size_t i = 0; i < batch->count; i++) {
		points += size_of(&batch->points[i].present) + size_of(&batch->points[i].gone);
		must_hold(batch->points[i].time_ns > (i ? batch->points[i - 1].time_ns : batch->start_ns));
	}
	return points;
}

/* Each line is a sample. A request has all points of its batch, whatever the samples say. */
static void feed_samples(const char *bytes, size_t length)
{
	static struct otlp_batch batch;
	CLEANUP_BUFFER struct buffer out = BUFFER(16 << 20);
	struct otlp_resource resource = OTLP_RESOURCE;
	struct scan scan = scan_bytes(bytes, length), line;
	struct metric_set wanted = {0};
	struct json_decoder decoder;
	struct frame frame = {0};
	struct otlp_run run;
	bool began = false;

	otlp_want(&wanted);
	WANT(&wanted, sample, host);
	WANT(&wanted, sample, job_name);
	json_decoder_init(&decoder, &wanted);
	batch = (struct otlp_batch){0};
	while (scan_line(&scan, &line)) {
		frame_begin(&frame, 0, 0);
		if (frame.error || !json_decoder_read(&decoder, line, &frame))
			continue;
		if (!began)
			otlp_resource_of_run(&resource, &frame, "run");
		if (!began)
			otlp_run_begin(&run, &frame, length % 2 ? 0 : 1000000000, (unsigned)(length / 2 % 4));
		began = true;
		if (otlp_run_feed(&run, &frame, &batch))
			break;
	}
	if (began) {
		otlp_run_end(&run, &batch);
		otlp_encode_metrics(&out, &resource, &batch);
		must_hold(buffer_error(&out) || otlp_count_points(out.data, out.length) == points_in(&batch));
		buffer_clear(&out);
		otlp_encode_end(&out, &resource, &run, &frame, scan_bytes(bytes, length));
		walk(scan_bytes(out.data, out.length), 0);
	}
	json_decoder_done(&decoder);
	frame_done(&frame);
	otlp_resource_done(&resource);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {feed_message, feed_resource, feed_state, feed_samples};

	fuzz_one_of(PARSERS, sizeof PARSERS / sizeof PARSERS[0], bytes, length);
	return 0;
}
