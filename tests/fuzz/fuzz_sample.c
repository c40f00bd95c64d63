/* Feeds any bytes as one JSON sample, and as the lines of a CSV file. */
#include <stdint.h>
#include <stdlib.h>

#include "format/csv_decode.h"
#include "format/json_decode.h"
#include "format/json_encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Reads, writes and reads again: the second reading must equal the first. */
static void read_json(struct json_decoder *reader, struct scan text, struct frame *frame)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64 << 20);

	frame_begin(frame, 0, 0);
	if (!json_decoder_read(reader, text, frame))
		return;
	write_frame_json(&out, frame, false);
	frame_begin(frame, 0, 0);
	if (buffer_error(&out) == 0 && !json_decoder_read(reader, scan_bytes(out.data, out.length), frame))
		abort();
}

static void read_csv(struct scan text, struct frame *frame)
{
	struct csv_decoder reader = {0};
	struct scan line;

	if (scan_line(&text, &line) &&
	    (csv_decoder_header(&reader, line) || csv_decoder_assume(&reader, line)))
		csv_decoder_probe_ticks(&reader, text);
	while (reader.layout && scan_line(&text, &line)) {
		frame_begin(frame, 0, 0);
		(void)csv_decoder_read(&reader, line, frame);
	}
	csv_decoder_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct json_decoder reader;
	static struct frame frame;
	struct metric_set wanted = {0};

	if (!reader.objects[ROW_sample].count) {
		metric_set_add_all(&wanted);
		json_decoder_init(&reader, &wanted);
	}
	read_json(&reader, scan_bytes((const char *)bytes, length), &frame);
	read_csv(scan_bytes((const char *)bytes, length), &frame);
	return 0;
}
