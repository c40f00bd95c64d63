/* Writes bytes as base64. See base64.h. */
#include "base/base64.h"

void buffer_add_base64(struct buffer *out, const void *bytes, size_t length)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < length; i += 3) {
		uint32_t three = (uint32_t)from[i] << 16;
		char four[4];

		three |= i + 1 < length ? (uint32_t)from[i + 1] << 8 : 0;
		three |= i + 2 < length ? (uint32_t)from[i + 2] : 0;
		for (int digit = 0; digit < 4; digit++)
			four[digit] = DIGITS[three >> (18 - 6 * digit) & 63];
		if (i + 1 >= length)
			four[2] = '=';
		if (i + 2 >= length)
			four[3] = '=';
		buffer_add(out, four, sizeof(four));
	}
}
