/*
 * SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104): needed to sign requests for S3.
 */
#pragma once

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

/* 0 or -ENOMEM. The key may be the digest that is overwritten. */
int hmac_sha256(const void *key, size_t key_length, const void *bytes, size_t length,
		unsigned char ret_digest[SHA256_SIZE]);

/* Lower-case hexadecimal, NUL-terminated. */
void sha256_to_hex(const unsigned char digest[SHA256_SIZE], char ret_hex[SHA256_HEX_SIZE]);
void sha256_hex(const void *bytes, size_t length, char ret_hex[SHA256_HEX_SIZE]);
