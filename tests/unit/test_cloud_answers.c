/*
 * Tests of src/discover/cloud_answers.c and of the clouds that the firmware excludes. Whole services:
 * tests/cli/test_net_discover.py.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "discover/cloud_answers.h"

static struct cloud_reading reading;

static bool take(bool (*parser)(struct cloud_reading *, const char *, size_t), const char *text)
{
	memset(&reading, 0, sizeof(reading));
	return parser(&reading, text, strlen(text));
}

static const char *fact(enum fact_id id)
{
	const char *text = fact_text(&reading.facts, id);

	return text ? text : "";
}

static void words(void **state)
{
	(void)state;
	assert_true(take(take_cloud_region, " us-west-2\r\n"));
	assert_string_equal(fact(CLOUD_REGION_ID), "us-west-2");
	assert_false(take(take_cloud_region, ""));
	assert_false(take(take_cloud_region, "unknown"));
	assert_false(take(take_cloud_region, "two words"));
	assert_false(take(take_cloud_region, "<html>"));
	assert_false(take(take_type, "\"quoted\""));
}

static void tokens(void **state)
{
	char longest[CLOUD_TOKEN_SIZE + 1];

	(void)state;
	assert_true(take(take_token, "AQAEA==\n"));
	assert_string_equal(reading.token, "AQAEA==");
	assert_true(take(take_token, "[\"abc\"]"));
	assert_string_equal(reading.token, "abc");
	assert_false(take(take_token, "a\r\nHost: evil"));
	assert_false(take(take_token, ""));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(take(take_token, longest));
	assert_true(take(take_token, longest + 1));
}

static void amazon_and_its_imitators(void **state)
{
	(void)state;
	assert_true(take(take_aws_domain, "amazonaws.com"));
	assert_true(take(take_aws_domain, "amazonaws.com.cn\n"));
	assert_false(take(take_aws_domain, "amazonaws.com.evil"));
	assert_false(take(take_aws_domain, "xamazonaws.com"));
	assert_true(take(take_aws_account, "{\n \"AccountId\" : \"123\" }"));
	assert_string_equal(fact(CLOUD_ACCOUNT_ID), "123");
	assert_false(take(take_aws_account, "{\"AccountId\":123}"));
}

static void alibaba(void **state)
{
	(void)state;
	assert_true(take(take_alicloud_type, "ecs.g"));
	assert_string_equal(fact(CLOUD_INSTANCE_TYPE), "ecs.g");
	assert_false(take(take_alicloud_type, "ecs."));
	assert_false(take(take_alicloud_type, "ecs"));
	assert_false(take(take_alicloud_type, "eca.g7.large"));
}

static void google(void **state)
{
	(void)state;
	assert_true(take(take_gcp_zone, "projects/1/zones/us-central1-a"));
	assert_string_equal(fact(CLOUD_ZONE_ID), "us-central1-a");
	assert_string_equal(fact(CLOUD_REGION_ID), "us-central1");
	assert_true(take(take_gcp_zone, "zone"));
	assert_string_equal(fact(CLOUD_REGION_ID), "zone");
	assert_true(take(take_gcp_type, "projects/1/machineTypes/n1-standard-1"));
	assert_string_equal(fact(CLOUD_INSTANCE_TYPE), "n1-standard-1");
	assert_false(take(take_gcp_type, "projects/"));
}

static void hetzner(void **state)
{
	(void)state;
	assert_true(take(take_hcloud, "region: eu-central\ninstance-id: 42\navailability-zone: fsn1-dc14\n"));
	assert_string_equal(fact(CLOUD_REGION_ID), "eu-central");
	assert_string_equal(fact(CLOUD_ZONE_ID), "fsn1-dc14");
	assert_string_equal(fact(CLOUD_INSTANCE_TYPE), "");
	assert_false(take(take_hcloud, "region: eu-central\ninstance-id: i-abc\n"));
	assert_string_equal(fact(CLOUD_REGION_ID), "");
	assert_false(take(take_hcloud, "instance-id: 42\n  region: nested\n"));
}

static void json_of_each_vendor(void **state)
{
	(void)state;
	assert_true(
		take(take_scaleway, "{\"commercial_type\":\"DEV1-S\",\"location\":{\"zone_id\":\"par1\"}}"));
	assert_string_equal(fact(CLOUD_ZONE_ID), "par1");
	assert_string_equal(fact(CLOUD_REGION_ID), "");
	assert_true(take(take_oracle, "{\"id\":\"ocid1.instance.oc1.x\",\"region\":\"phx\"}"));
	assert_string_equal(fact(CLOUD_REGION_ID), "phx");
	assert_false(take(take_oracle, "{\"id\":\"ocid1.volume.x\"}"));
	assert_false(take(take_digitalocean, "{\"droplet_id\":\"1\",\"region\":\"nyc3\"}"));
	assert_false(take(take_linode, "{\"id\":1,\"type\":\"g6\",\"region\":\"us\"}"));
	assert_false(take(take_upcloud, "{\"cloud_name\":\"other\"}"));
	assert_true(take(take_ovh_metadata, "{\"availability_zone\":\"nova\"}"));
	assert_string_equal(fact(CLOUD_REGION_ID), "");
	assert_false(take(take_azure, "{\"compute\":{\"location\":\"x\"}}"));
	assert_true(take(take_ibm, "{\"crn\":\"crn:v1:x\",\"zone\":{\"name\":\"us-south-1\"}}"));
	assert_string_equal(fact(CLOUD_REGION_ID), "us-south");
	assert_string_equal(fact(CLOUD_ACCOUNT_ID), "");
	assert_false(take(take_alicloud_type, "ecs."));
	assert_false(take(take_alicloud_type, "t2.micro"));
}

static void nonsense(void **state)
{
	static bool (*const PARSERS[])(struct cloud_reading *, const char *, size_t) = {
		take_aws_account, take_azure,  take_hcloud,    take_ovh_network,
		take_upcloud,     take_vultr,  take_oracle,    take_digitalocean,
		take_scaleway,    take_linode, take_ibm_token, take_ibm,
	};
	static const char *const TEXTS[] = {"",
					    "x",
					    "{",
					    "[]",
					    "null",
					    "7",
					    "{}",
					    "\xff\xfe",
					    "{\"compute\":7}",
					    "{\"services\":{}}",
					    "{\"id\":null,\"crn\":[]}",
					    "{\"region\":\"\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof(PARSERS) / sizeof(PARSERS[0]); i++)
		for (size_t j = 0; j < sizeof(TEXTS) / sizeof(TEXTS[0]); j++)
			assert_false(take(PARSERS[i], TEXTS[j]));
}

static const char *only_candidate(const struct sys_dmi *dmi)
{
	bool candidates[CLOUD_MOST_VENDORS];
	const char *only = "";

	if (cloud_candidates(dmi, candidates) != 1)
		return "not one";
	for (size_t i = 0; i < CLOUD_VENDOR_COUNT; i++)
		if (candidates[i])
			only = CLOUD_VENDORS[i].id;
	return only;
}

static void firmware_excludes_other_vendors(void **state)
{
	const struct sys_dmi amazon = {.system_vendor = "Amazon EC2"}, xen = {.bios_version = "4.11.amazon"},
			     hyper_v = {.system_vendor = "Microsoft Corporation"},
			     dell = {.system_vendor = "Dell Inc."}, qemu = {.system_vendor = "QEMU"},
			     oracle = {.system_vendor = "QEMU", .chassis_asset_tag = "OracleCloud.com"};
	bool candidates[CLOUD_MOST_VENDORS];

	(void)state;
	assert_int_equal(cloud_candidates(NULL, candidates), CLOUD_VENDOR_COUNT);
	assert_int_equal(cloud_candidates(&dell, candidates), 0);
	assert_int_equal(cloud_candidates(&hyper_v, candidates), 0);
	assert_string_equal(only_candidate(&amazon), "aws");
	assert_string_equal(only_candidate(&xen), "aws");
	assert_string_equal(only_candidate(&qemu), "linode");
	assert_string_equal(only_candidate(&oracle), "oracle");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(tokens),
		cmocka_unit_test(amazon_and_its_imitators),
		cmocka_unit_test(alibaba),
		cmocka_unit_test(google),
		cmocka_unit_test(hetzner),
		cmocka_unit_test(json_of_each_vendor),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(firmware_excludes_other_vendors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
