/* The state of a run as text, so that another process can go on. See otlp_series.h. */
#include "format/otlp_series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/scan.h"

static void format_set(const struct otlp_set *set, struct buffer *out)
{
	for (size_t i = 0; i < OTLP_SLOT_WORDS; i++)
		buffer_printf(out, " %llx", (unsigned long long)set->words[i]);
}

static bool parse_set(struct scan *scan, struct otlp_set *ret_set)
{
	for (size_t i = 0; i < OTLP_SLOT_WORDS; i++)
		if (!scan_hex(scan, &ret_set->words[i]))
			return false;
	return OTLP_SLOT_COUNT % 64 == 0 || ret_set->words[OTLP_SLOT_WORDS - 1] >> OTLP_SLOT_COUNT % 64 == 0;
}

/* Names as hexadecimal bytes: they may have blanks. */
static void format_devices(const struct otlp_devices *devices, struct buffer *out)
{
	for (enum otlp_device_kind kind = 0; kind < OTLP_DEVICE_KINDS; kind++) {
		buffer_printf(out, " %zu", devices->counts[kind]);
		for (size_t i = 0; i < devices->counts[kind]; i++) {
			buffer_add_char(out, ' ');
			for (const char *at = devices->names[kind][i]; *at; at++)
				buffer_printf(out, "%02x", (unsigned char)*at);
		}
	}
}

static bool parse_name(struct scan *scan, char name[OTLP_DEVICE_SIZE])
{
	struct scan word;
	size_t length;

	if (!scan_word(scan, &word))
		return false;
	length = scan_left(&word) / 2;
	if (!length || length >= OTLP_DEVICE_SIZE || scan_left(&word) % 2)
		return false;
	for (size_t i = 0; i < length; i++) {
		struct scan digits = scan_bytes(word.at + 2 * i, 2);
		uint64_t byte;

		if (!scan_hex(&digits, &byte) || scan_left(&digits) || !byte)
			return false;
		name[i] = (char)(unsigned char)byte;
	}
	return true;
}

static bool parse_devices(struct scan *scan, struct otlp_devices *ret_devices)
{
	for (enum otlp_device_kind kind = 0; kind < OTLP_DEVICE_KINDS; kind++) {
		uint64_t count;

		if (!scan_u64(scan, &count) || count > OTLP_DEVICES_MOST)
			return false;
		ret_devices->counts[kind] = count;
		for (size_t i = 0; i < count; i++)
			if (!parse_name(scan, ret_devices->names[kind][i]))
				return false;
	}
	return true;
}

void otlp_run_format(const struct otlp_run *run, struct buffer *out)
{
	buffer_printf(out, "%d %lld %d %lld %lld %lld %d", OTLP_SLOT_COUNT, (long long)run->step_ns,
		      (int)run->extras, (long long)run->start_ns, (long long)run->last_ns,
		      (long long)run->due_ns, run->pending);
	format_set(&run->known, out);
	format_set(&run->sent, out);
	format_set(&run->shown, out);
	for (size_t i = 0; i < OTLP_SLOT_COUNT; i++) {
		unsigned long long bits;

		memcpy(&bits, &run->values[i], sizeof bits);
		buffer_printf(out, " %llx", bits);
	}
	format_devices(&run->devices, out);
}

static bool parse_values(struct scan *scan, double values[OTLP_SLOT_COUNT])
{
	for (size_t i = 0; i < OTLP_SLOT_COUNT; i++) {
		uint64_t bits;

		if (!scan_hex(scan, &bits))
			return false;
		memcpy(&values[i], &bits, sizeof bits);
		if (!isfinite(values[i]))
			return false;
	}
	return true;
}

int otlp_run_parse(const char *text, size_t length, struct otlp_run *ret_run)
{
	struct scan scan = scan_bytes(text, length);
	struct otlp_run run = {0};
	uint64_t count, extras, pending;

	if (!scan_u64(&scan, &count) || count != OTLP_SLOT_COUNT || !scan_i64(&scan, &run.step_ns) ||
	    !scan_u64(&scan, &extras) || !scan_i64(&scan, &run.start_ns) || !scan_i64(&scan, &run.last_ns) ||
	    !scan_i64(&scan, &run.due_ns) || !scan_u64(&scan, &pending) || !parse_set(&scan, &run.known) ||
	    !parse_set(&scan, &run.sent) || !parse_set(&scan, &run.shown) ||
	    !parse_values(&scan, run.values) || !parse_devices(&scan, &run.devices))
		return -EBADMSG;
	if (scan_left(&scan) || extras > (OTLP_WITH_MACHINE | OTLP_WITH_PROGRAMS) || pending > 1 ||
	    run.start_ns <= 0 || run.last_ns < run.start_ns || run.last_ns > INT64_MAX / 2 || run.step_ns < 0)
		return -EBADMSG;
	run.extras = (unsigned)extras;
	run.pending = pending;
	*ret_run = run;
	return 0;
}
