/* Tests of src/stream/sha256.c with the examples of FIPS 180-4 and RFC 4231, and of lengths around the block's. */
#include "unit.h"

#include <string.h>

#include "stream/sha256.h"

static void known_answers(void **state)
{
	static char million[1000000];
	static const struct {
		const char *text, *hash;
	} CASES[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	char hex[SHA256_HEX_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		sha256_hex(CASES[i].text, strlen(CASES[i].text), hex);
		assert_string_equal(hex, CASES[i].hash);
	}
	memset(million, 'a', sizeof(million));
	sha256_hex(million, sizeof(million), hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Computed by sha256sum over that many letters x. */
static void every_length_of_a_tail(void **state)
{
	static const struct {
		size_t length;
		const char *hash;
	} CASES[] = {
		{55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
		{56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
		{63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
		{64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
		{65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
		{119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
	};
	char text[128], hex[SHA256_HEX_SIZE];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		sha256_hex(text, CASES[i].length, hex);
		assert_string_equal(hex, CASES[i].hash);
	}
}

/* RFC 4231, test cases 1, 2 and 6. */
static void keyed_hashes(void **state)
{
	static const char LONG_TEXT[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	unsigned char key[131], digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	(void)state;
	memset(key, 0x0b, 20);
	assert_int_equal(hmac_sha256(key, 20, "Hi There", 8, digest), 0);
	sha256_to_hex(digest, hex);
	assert_string_equal(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	assert_int_equal(hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest), 0);
	sha256_to_hex(digest, hex);
	assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	assert_int_equal(hmac_sha256(key, sizeof(key), LONG_TEXT, strlen(LONG_TEXT), digest), 0);
	sha256_to_hex(digest, hex);
	assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	/* In place, as in a signature's chain of keys. */
	assert_int_equal(hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest), 0);
	assert_int_equal(hmac_sha256(digest, sizeof(digest), "x", 1, digest), 0);
	sha256_to_hex(digest, hex);
	assert_string_equal(hex, "5b2c66026a8221eef45bfd7bc81473287416369694c38aa060c104f44863869e");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_length_of_a_tail),
		cmocka_unit_test(keyed_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
