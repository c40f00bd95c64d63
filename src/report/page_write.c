/* See page_write.h. */
#include "report/page_write.h"

#include <errno.h>
#include <string.h>

enum { SAFE_BYTES = 64 << 10 };

void page_write_data(struct output *output, struct buffer *json)
{
	CLEANUP_BUFFER struct buffer safe = BUFFER(2 * SAFE_BYTES);
	const char *at = json->data, *end = at + json->length;

	while (at < end) {
		const char *limit = end - at > SAFE_BYTES ? at + SAFE_BYTES : end;
		const char *angle = memchr(at, '<', (size_t)(limit - at));

		buffer_add(&safe, at, (size_t)((angle ? angle : limit) - at));
		if (angle)
			buffer_add_text(&safe, "\\u003c");
		at = angle ? angle + 1 : limit;
		output_write(output, &safe);
	}
	if (buffer_error(json) < 0)
		output->error = -ENOMEM;
	buffer_clear(json);
}

void page_write_bytes(struct output *output, const unsigned char *bytes, size_t length)
{
	CLEANUP_BUFFER struct buffer copy = BUFFER(length + 1);

	buffer_add(&copy, bytes, length);
	if (buffer_error(&copy) < 0)
		output->error = -ENOMEM;
	output_write(output, &copy);
}
