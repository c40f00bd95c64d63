/* SHA-256 and HMAC. See sha256.h. */
#include "stream/sha256.h"

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

enum { BLOCK_BYTES = 64 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t ROUNDS[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t value, int bits)
{
	return value >> bits | value << (32 - bits);
}

static void add_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
		       block[3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
		uint32_t first = v[7] +
				 (rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25)) +
				 choice + ROUNDS[i] + w[i];
		uint32_t second =
			(rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) + majority;

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += first;
		v[0] = first + second;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

static void sha256(const void *bytes, size_t length, unsigned char ret_digest[SHA256_SIZE])
{
	/* The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	unsigned char tail[2 * BLOCK_BYTES] = {0};
	const unsigned char *at = bytes;
	size_t left = length, tail_length;

	for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, at += BLOCK_BYTES)
		add_block(state, at);
	if (left)
		memcpy(tail, at, left);
	tail[left] = 0x80;
	tail_length = left + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES;
	for (int i = 0; i < 8; i++)
		tail[tail_length - 1 - (size_t)i] = (unsigned char)((uint64_t)length * 8 >> (8 * i));
	for (size_t i = 0; i < tail_length; i += BLOCK_BYTES)
		add_block(state, tail + i);
	for (int i = 0; i < SHA256_SIZE; i++)
		ret_digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

int hmac_sha256(const void *key, size_t key_length, const void *bytes, size_t length,
		unsigned char ret_digest[SHA256_SIZE])
{
	CLEANUP_BUFFER struct buffer inner = BUFFER(BLOCK_BYTES + length + 1);
	unsigned char pad[BLOCK_BYTES] = {0}, outer[BLOCK_BYTES + SHA256_SIZE];

	if (key_length > BLOCK_BYTES)
		sha256(key, key_length, pad);
	else
		memcpy(pad, key, key_length);
	for (int i = 0; i < BLOCK_BYTES; i++) {
		outer[i] = pad[i] ^ 0x5c;
		pad[i] ^= 0x36;
	}
	buffer_add(&inner, pad, sizeof(pad));
	buffer_add(&inner, bytes, length);
	if (buffer_error(&inner))
		return buffer_error(&inner);
	sha256(inner.data, inner.length, outer + BLOCK_BYTES);
	sha256(outer, sizeof(outer), ret_digest);
	return 0;
}

void sha256_to_hex(const unsigned char digest[SHA256_SIZE], char ret_hex[SHA256_HEX_SIZE])
{
	static const char DIGITS[] = "0123456789abcdef";

	for (int i = 0; i < SHA256_SIZE; i++) {
		ret_hex[2 * i] = DIGITS[digest[i] >> 4];
		ret_hex[2 * i + 1] = DIGITS[digest[i] & 15];
	}
	ret_hex[2 * SHA256_SIZE] = '\0';
}

void sha256_hex(const void *bytes, size_t length, char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char digest[SHA256_SIZE];

	sha256(bytes, length, digest);
	sha256_to_hex(digest, ret_hex);
}
