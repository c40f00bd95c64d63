/* Tests of src/discover/cloud_answers.c: the facts in the answer of each service, and the answers of other services. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "discover/cloud_answers.h"

typedef bool parser(struct cloud_reading *, const char *, size_t);

static struct cloud_reading reading;

static bool take(parser *parse, const char *text)
{
	memset(&reading, 0, sizeof reading);
	return parse(&reading, text, strlen(text));
}

static const char *fact(enum fact_id id)
{
	const char *text = fact_text(&reading.facts, id);

	return text ? text : "";
}

/* Whether an answer is that of the service, and "REGION ZONE TYPE ACCOUNT" of it. */
static void assert_taken(parser *parse, const char *text, const char *expected)
{
	char facts[200];

	if (!take(parse, text))
		fail_msg("it is not taken: %s", text);
	snprintf(facts, sizeof facts, "%s %s %s %s", fact(CLOUD_REGION_ID), fact(CLOUD_ZONE_ID),
		 fact(CLOUD_INSTANCE_TYPE), fact(CLOUD_ACCOUNT_ID));
	assert_string_equal(facts, expected);
}

static void assert_refused(parser *parse, const char *text)
{
	if (take(parse, text))
		fail_msg("it is taken: %s", text);
	for (enum fact_id id = CLOUD_VENDOR_ID; id < FACTS; id++)
		assert_string_equal(fact(id), "");
}

static void a_word_has_visible_characters_of_ascii(void **state)
{
	char longest[FACT_TEXT_SIZE + 1];

	(void)state;
	assert_taken(take_cloud_region, "!~", "!~   ");
	assert_taken(take_zone, "a \r\r\n", " a  ");
	assert_taken(take_type, "t", "  t ");
	assert_taken(take_account, "1-2", "   1-2");
	assert_refused(take_zone, "\r");
	assert_refused(take_zone, "a\x7f");
	assert_refused(take_zone, "a\xc3\xa4");
	assert_refused(take_zone, "a\x01z");
	assert_refused(take_zone, "a<z");
	assert_refused(take_zone, "a\"z");
	memset(longest, 'x', sizeof longest - 1);
	longest[FACT_TEXT_SIZE] = '\0';
	assert_refused(take_zone, longest);
	assert_true(take(take_zone, longest + 1));
	assert_string_equal(fact(CLOUD_ZONE_ID), longest + 1);
}

static void a_token_is_a_line_of_a_header(void **state)
{
	static const char *const REFUSED[] = {"a b", "a\x7f", "a\xff", "<html>", "a\x01", "[\"\"]", " \n"};

	(void)state;
	assert_true(take(take_token, " !~\"x\n"));
	assert_string_equal(reading.token, "!~\"x");
	assert_true(take(take_token, "[\"t\"]\n"));
	assert_string_equal(reading.token, "t");
	/* The brackets belong together. */
	assert_true(take(take_token, "[\"t\"x"));
	assert_string_equal(reading.token, "t\"x");
	for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
		assert_false(take(take_token, REFUSED[i]));
		assert_string_equal(reading.token, "");
	}
	assert_true(take(take_ibm_token, "{\"access_token\":\"ey\"}"));
	assert_string_equal(reading.token, "ey");
	assert_false(take(take_ibm_token, "{\"access_token\":\"e y\"}"));
}

static void the_last_part_of_a_path_is_the_name(void **state)
{
	(void)state;
	assert_taken(take_gcp_type, "n1", "  n1 ");
	assert_taken(take_gcp_type, "a/b/n1", "  n1 ");
	assert_refused(take_gcp_type, "a b");
	assert_taken(take_gcp_zone, "p/europe-west1-b", "europe-west1 europe-west1-b  ");
	assert_refused(take_gcp_zone, "p/");
	assert_refused(take_gcp_zone, "p/unknown");
	assert_taken(take_alicloud_type, "ecs.c", "  ecs.c ");
	assert_refused(take_alicloud_type, "ecs g");
}

static void lines_of_hetzner_have_three_members(void **state)
{
	(void)state;
	assert_taken(take_hcloud, "no member\nregion: r\nother: x\ninstance-id: 7\n", "r   ");
	assert_taken(take_hcloud, "availability-zone: z\ninstance-id: 7\nregion: r", "r z  ");
	assert_refused(take_hcloud, "availability-zone: z\nregion: r\n");
	assert_refused(take_hcloud, "availability-zone: z\ninstance-id: 7\nregion: a b\n");
}

static void an_answer_of_azure_has_a_machine_and_its_cloud(void **state)
{
	(void)state;
	assert_taken(take_azure,
		     "{\"compute\":{\"vmId\":\"v\",\"azEnvironment\":\"e\",\"location\":\"l\",\"vmSize\":"
		     "\"s\",\"zone\":\"1\","
		     "\"subscriptionId\":\"a\"}}",
		     "l 1 s a");
	assert_taken(take_azure, "{\"compute\":{\"vmId\":\"v\",\"azEnvironment\":\"e\",\"location\":\"l\"}}",
		     "l   ");
	assert_refused(take_azure,
		       "{\"compute\":{\"azEnvironment\":\"e\",\"location\":\"l\",\"vmSize\":\"s\"}}");
	assert_refused(take_azure, "{\"compute\":{\"vmId\":\"v\",\"location\":\"l\",\"vmSize\":\"s\"}}");
	assert_refused(take_azure, "{\"compute\":{\"vmId\":\"v\",\"azEnvironment\":\"e\",\"vmSize\":\"s\"}}");
	assert_refused(take_azure,
		       "{\"compute\":{\"vmId\":\"\",\"azEnvironment\":\"e\",\"location\":\"l\"}}");
}

static void ovh_is_known_by_its_name_server(void **state)
{
	(void)state;
	assert_taken(take_ovh_network,
		     "{\"services\":[{\"type\":\"dns\",\"address\":\"8.8.8.8\"},{\"type\":\"dns\","
		     "\"address\":\"213.186.33.99\"},{}]}",
		     "   ");
	assert_refused(take_ovh_network, "{\"services\":[{\"type\":\"ntp\",\"address\":\"213.186.33.99\"}]}");
	assert_refused(take_ovh_network, "{\"services\":[{\"type\":\"dns\",\"address\":\"213.186.33.98\"}]}");
	assert_refused(take_ovh_network,
		       "{\"services\":[{\"type\":\"dns\"},{\"address\":\"213.186.33.99\"}]}");
	assert_taken(take_ovh_metadata, "{\"availability_zone\":\"nova\",\"project_id\":\"p\"}", "   p");
	assert_taken(take_ovh_metadata, "{\"availability_zone\":\"GRA1\"}", "GRA1   ");
	assert_refused(take_ovh_metadata, "[]");
}

static void a_service_is_known_by_a_member(void **state)
{
	(void)state;
	assert_taken(take_aws_account, "{\"AccountId\":\"1\"}", "   1");
	assert_taken(take_upcloud, "{\"cloud_name\":\"upcloud\",\"region\":\"r\"}", "r   ");
	assert_refused(take_upcloud, "{\"cloud_name\":\"other\",\"region\":\"r\"}");
	assert_refused(take_upcloud, "{\"region\":\"r\"}");
	assert_taken(take_vultr, "{\"instanceid\":\"1\",\"region\":{\"regioncode\":\"r\"}}", "r   ");
	assert_taken(take_vultr, "{\"instance-v2-id\":\"1\",\"region\":{\"regioncode\":\"r\"}}", "r   ");
	assert_refused(take_vultr, "{\"region\":{\"regioncode\":\"r\"}}");
	assert_taken(take_digitalocean, "{\"droplet_id\":1,\"region\":\"r\"}", "r   ");
	assert_refused(take_digitalocean, "{\"droplet_id\":1}");
}

static void oracle_has_two_names_of_its_region(void **state)
{
	(void)state;
	assert_taken(take_oracle,
		     "{\"id\":\"ocid1.instance.x\",\"canonicalRegionName\":\"us-phoenix-1\",\"region\":"
		     "\"phx\",\"availabilityDomain\":"
		     "\"z\",\"shape\":\"s\",\"tenantId\":\"t\"}",
		     "us-phoenix-1 z s t");
	assert_taken(take_oracle, "{\"id\":\"ocid1.instance.x\",\"region\":\"phx\"}", "phx   ");
	assert_refused(take_oracle, "{\"id\":\"ocid1.instances\",\"region\":\"phx\"}");
	assert_refused(take_oracle, "{\"region\":\"phx\"}");
}

static void scaleway_has_a_zone_in_two_places(void **state)
{
	(void)state;
	assert_taken(take_scaleway,
		     "{\"commercial_type\":\"c\",\"zone\":\"fr-par-1\",\"location\":{\"zone_id\":\"z\"},"
		     "\"project\":\"p\","
		     "\"organization\":\"o\"}",
		     "fr-par fr-par-1 c p");
	assert_taken(take_scaleway,
		     "{\"commercial_type\":\"c\",\"location\":{\"zone_id\":\"z\"},\"organization\":\"o\"}",
		     " z c o");
	assert_refused(take_scaleway, "{\"commercial_type\":\"c\",\"location\":{}}");
	assert_refused(take_scaleway, "{\"zone\":\"fr-par-1\"}");
}

static void linode_needs_four_members(void **state)
{
	(void)state;
	assert_taken(take_linode,
		     "{\"id\":1,\"host_uuid\":\"h\",\"type\":\"t\",\"region\":\"r\",\"account_euuid\":\"a\"}",
		     "r  t a");
	assert_refused(take_linode, "{\"id\":\"1\",\"host_uuid\":\"h\",\"type\":\"t\",\"region\":\"r\"}");
	assert_refused(take_linode, "{\"id\":1,\"type\":\"t\",\"region\":\"r\"}");
	assert_refused(take_linode, "{\"id\":1,\"host_uuid\":\"h\",\"region\":\"r\"}");
	assert_refused(take_linode, "{\"id\":1,\"host_uuid\":\"h\",\"type\":\"t\"}");
}

static void ibm_tells_the_account_in_its_name(void **state)
{
	(void)state;
	assert_taken(take_ibm,
		     "{\"crn\":\"crn:v1:b:public:is:us-south-1:a/"
		     "acc::instance:7\",\"zone\":{\"name\":\"us-south-1\"},\"profile\":{"
		     "\"name\":\"p\"}}",
		     "us-south us-south-1 p acc");
	assert_taken(take_ibm, "{\"crn\":\"crn:v1:b:a/acc\",\"zone\":{\"name\":\"z\"}}", " z  ");
	assert_taken(take_ibm, "{\"crn\":\"crn:v1:b:a/::i\",\"zone\":{\"name\":\"z\"}}", " z  ");
	assert_refused(take_ibm, "{\"crn\":\"crn:v1:b\"}");
	assert_refused(take_ibm, "{\"crn\":\"crn:v2:b\",\"zone\":{\"name\":\"z\"}}");
	assert_refused(take_ibm, "{\"zone\":{\"name\":\"z\"}}");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_has_visible_characters_of_ascii),
		cmocka_unit_test(a_token_is_a_line_of_a_header),
		cmocka_unit_test(the_last_part_of_a_path_is_the_name),
		cmocka_unit_test(lines_of_hetzner_have_three_members),
		cmocka_unit_test(an_answer_of_azure_has_a_machine_and_its_cloud),
		cmocka_unit_test(ovh_is_known_by_its_name_server),
		cmocka_unit_test(a_service_is_known_by_a_member),
		cmocka_unit_test(oracle_has_two_names_of_its_region),
		cmocka_unit_test(scaleway_has_a_zone_in_two_places),
		cmocka_unit_test(linode_needs_four_members),
		cmocka_unit_test(ibm_tells_the_account_in_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
