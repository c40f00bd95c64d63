/* Tests of src/discover/keeper.c: questions and answers. Whole calls: tests/cli/test_net_keeper.py. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "discover/keeper.h"
#include "net/arguments.h"

static const char BASE[] = "https://k.example/v/";

static void servers_are_asked_in_the_units_of_the_api(void **state)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(1000);
	struct arguments arguments = {.vcpus = 3, .memory_mib = 1025};

	(void)state;
	keeper_servers_url(&url, BASE, &arguments);
	assert_string_equal(url.data, "https://k.example/v/servers?vcpus_min=3&memory_min=1.001"
				      "&order_by=min_price_ondemand&order_dir=asc&limit=3");
	buffer_clear(&url);
	arguments = (struct arguments){.vcpus = 300,
				       .memory_mib = 512,
				       .gpus = 1,
				       .gpu_memory_mib = 1024,
				       .limit = 1,
				       .filters = {"vendor=a b", "x&y=1=2"},
				       .filter_count = 2};
	keeper_servers_url(&url, BASE, &arguments);
	assert_string_equal(
		url.data,
		"https://k.example/v/servers?vcpus_min=256&memory_min=0.5&gpu_min=1&gpu_memory_total=1.0"
		"&vendor=a%20b&x%26y=1%3D2&order_by=min_price_ondemand&order_dir=asc&limit=1");
	buffer_clear(&url);
	arguments = (struct arguments){.vendor = "a/b", .instance_type = "t 1"};
	keeper_price_url(&url, BASE, &arguments);
	assert_string_equal(url.data, "https://k.example/v/server/a%2Fb/t%201/prices");
	buffer_clear(&url);
	keeper_servers_url(&url, BASE, &(struct arguments){0});
	assert_non_null(strstr(url.data, "vcpus_min=1&"));
}

static void missing_parts_of_an_answer_are_null(void **state)
{
	static const char ANSWER[] =
		"[{\"vendor_id\":\"aws\",\"api_reference\":\"t4g/n\",\"vcpus\":2,\"memory_amount\":512.0,"
		"\"gpu_count\":1e300,\"min_price_ondemand\":0.0042},{\"api_reference\":7}]";
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	assert_int_equal(keeper_add_servers(&out, ANSWER, strlen(ANSWER)), 0);
	assert_string_equal(out.data, "[{\"vendor_id\":\"aws\",\"api_reference\":\"t4g/"
				      "n\",\"display_name\":null,\"vcpus\":2,\"memory_mib\":512,"
				      "\"gpu_count\":null,\"price_usd_per_hour\":0.0042,\"url\":\"https://"
				      "sparecores.com/server/aws/t4g%2Fn\"},"
				      "{\"vendor_id\":null,\"api_reference\":null,\"display_name\":null,"
				      "\"vcpus\":null,\"memory_mib\":null,"
				      "\"gpu_count\":null,\"price_usd_per_hour\":null,\"url\":null}]");
	assert_int_equal(keeper_add_servers(&out, "{}", 2), -EBADMSG);
	assert_int_equal(keeper_add_servers(&out, "", 0), -EBADMSG);
}

#define PRICE(region, price, allocation, system) \
	"{\"region_id\":" region ",\"price\":" price ",\"allocation\":\"" allocation \
	"\",\"operating_system\":\"" system "\"}"

static double price_in(const char *text, const char *region, const char *wanted_region, int result)
{
	char found[KEEPER_REGION_SIZE] = "none";
	double price = -1;

	assert_int_equal(keeper_find_price(text, strlen(text), region, &price, found), result);
	assert_string_equal(found, wanted_region);
	return price;
}

static void a_price_is_that_of_the_region_or_the_first(void **state)
{
	static const char PRICES[] = "[" PRICE("\"a\"", "1", "spot", "Linux") "," PRICE(
		"\"a\"", "2", "ondemand",
		"Windows") "," PRICE("\"b\"", "\"3\"", "ondemand",
				     "Linux") "," PRICE("\"b\"", "4", "ondemand",
							"Linux") "," PRICE("\"c\"", "5.5", "ondemand",
									   "Linux") "," PRICE("\"c\"", "6",
											      "ondemand",
											      "Linux") "]";

	(void)state;
	assert_true(price_in(PRICES, "c", "c", 0) == 5.5);
	assert_true(price_in(PRICES, "a", "b", 0) == 4);
	assert_true(price_in(PRICES, NULL, "b", 0) == 4);
	assert_true(price_in("[" PRICE("null", "7", "ondemand", "Linux") "]", "a", "", 0) == 7);
	assert_true(price_in("[]", "a", "none", -ENOENT) == -1);
	assert_true(price_in("{}", "a", "none", -EBADMSG) == -1);
	assert_true(price_in("", "a", "none", -EBADMSG) == -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_are_asked_in_the_units_of_the_api),
		cmocka_unit_test(missing_parts_of_an_answer_are_null),
		cmocka_unit_test(a_price_is_that_of_the_region_or_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
