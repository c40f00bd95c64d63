/* Reads the answers of metadata services. See cloud_answers.h. */
#include "discover/cloud_answers.h"

#include <jansson.h>
#include <string.h>

#include "base/scan.h"

/* ---- words ------------------------------------------------------------------------------------------ */

/* A word that may be a name or an id, without blanks around it. */
static bool get_word(const char *bytes, size_t length, struct scan *ret_word)
{
	struct scan word = scan_trim(scan_bytes(bytes, length));

	while (scan_left(&word) && word.end[-1] == '\r')
		word.end--;
	if (scan_left(&word) == 0 || scan_left(&word) >= FACT_TEXT_SIZE || scan_is(&word, "unknown"))
		return false;
	for (const char *at = word.at; at < word.end; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || *at == '<' || *at == '"')
			return false;
	*ret_word = word;
	return true;
}

static bool take_cloud_word(struct cloud_reading *reading, enum fact_id id, const char *bytes, size_t length)
{
	struct scan word;

	if (!get_word(bytes, length, &word))
		return false;
	fact_set_text(&reading->facts, id, word.at, scan_left(&word));
	return true;
}

bool take_cloud_region(struct cloud_reading *reading, const char *bytes, size_t length)
{
	return take_cloud_word(reading, CLOUD_REGION_ID, bytes, length);
}

bool take_zone(struct cloud_reading *reading, const char *bytes, size_t length)
{
	return take_cloud_word(reading, CLOUD_ZONE_ID, bytes, length);
}

bool take_type(struct cloud_reading *reading, const char *bytes, size_t length)
{
	return take_cloud_word(reading, CLOUD_INSTANCE_TYPE, bytes, length);
}

bool take_account(struct cloud_reading *reading, const char *bytes, size_t length)
{
	return take_cloud_word(reading, CLOUD_ACCOUNT_ID, bytes, length);
}

/* A token goes into a header as it is. */
static bool keep_token(struct cloud_reading *reading, const char *text, size_t length)
{
	struct scan token = scan_trim(scan_bytes(text, length));

	if (scan_left(&token) == 0 || scan_left(&token) >= CLOUD_TOKEN_SIZE)
		return false;
	for (const char *at = token.at; at < token.end; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || *at == '<')
			return false;
	scan_copy(&token, reading->token, sizeof(reading->token));
	return true;
}

bool take_token(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct scan text = scan_trim(scan_bytes(bytes, length));

	if (scan_literal(&text, "[\"") && scan_left(&text) >= 2 && memcmp(text.end - 2, "\"]", 2) == 0)
		text.end -= 2;
	return keep_token(reading, text.at, scan_left(&text));
}

/* ---- plain texts ------------------------------------------------------------------------------------ */

bool take_aws_domain(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct scan domain;

	(void)reading;
	return get_word(bytes, length, &domain) &&
	       (scan_is(&domain, "amazonaws.com") || scan_is(&domain, "amazonaws.com.cn"));
}

/* Returns the text after the last slash. */
static bool get_last_part(const char *bytes, size_t length, struct scan *ret_part)
{
	struct scan word;
	const char *slash;

	if (!get_word(bytes, length, &word))
		return false;
	slash = memrchr(word.at, '/', scan_left(&word));
	if (slash)
		word.at = slash + 1;
	*ret_part = word;
	return scan_left(&word) > 0;
}

bool take_gcp_type(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct scan type;

	return get_last_part(bytes, length, &type) && take_type(reading, type.at, scan_left(&type));
}

bool take_gcp_zone(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct scan zone;
	const char *dash;

	if (!get_last_part(bytes, length, &zone) || !take_zone(reading, zone.at, scan_left(&zone)))
		return false;
	dash = memrchr(zone.at, '-', scan_left(&zone));
	return take_cloud_region(reading, zone.at, (size_t)((dash ? dash : zone.end) - zone.at));
}

bool take_alicloud_type(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct scan type;

	if (!get_word(bytes, length, &type) || scan_left(&type) <= 4 || memcmp(type.at, "ecs.", 4) != 0)
		return false;
	return take_type(reading, type.at, scan_left(&type));
}

/*
 *   availability-zone: fsn1-dc14
 *   instance-id: 42
 *   region: eu-central
 */
bool take_hcloud(struct cloud_reading *reading, const char *bytes, size_t length)
{
	struct cloud_reading found = *reading;
	struct scan text = scan_bytes(bytes, length), line, key;
	bool has_id = false, has_region = false;

	while (scan_line(&text, &line)) {
		uint64_t id;

		/* Only these three members identify the service. A member of a nested object is indented. */
		if (!scan_until(&line, ':', &key))
			continue;
		if (scan_is(&key, "instance-id"))
			has_id = scan_u64(&line, &id);
		else if (scan_is(&key, "region"))
			has_region = take_cloud_region(&found, line.at, scan_left(&line));
		else if (scan_is(&key, "availability-zone"))
			take_zone(&found, line.at, scan_left(&line));
	}
	if (!has_id || !has_region)
		return false;
	*reading = found;
	return true;
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static json_t *load_json(const char *bytes, size_t length)
{
	return length ? json_loadb(bytes, length, 0, NULL) : NULL;
}

static const char *cloud_answer_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : NULL;
}

static bool take_member(struct cloud_reading *reading, enum fact_id id, const json_t *object, const char *key)
{
	const char *text = cloud_answer_text(object, key);

	return text && take_cloud_word(reading, id, text, strlen(text));
}

bool take_aws_account(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	bool taken = take_member(reading, CLOUD_ACCOUNT_ID, root, "AccountId");

	json_decref(root);
	return taken;
}

bool take_azure(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const json_t *compute = json_object_get(root, "compute");
	/* Any service may have a "compute" member. The machine's id together with the cloud's name is Azure's. */
	bool taken = cloud_answer_text(compute, "vmId") && cloud_answer_text(compute, "azEnvironment") &&
		     take_member(reading, CLOUD_REGION_ID, compute, "location");

	if (taken) {
		take_member(reading, CLOUD_INSTANCE_TYPE, compute, "vmSize");
		take_member(reading, CLOUD_ZONE_ID, compute, "zone");
		take_member(reading, CLOUD_ACCOUNT_ID, compute, "subscriptionId");
	}
	json_decref(root);
	return taken;
}

bool take_ovh_network(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const json_t *services = json_object_get(root, "services");
	bool found = false;

	(void)reading;
	for (size_t i = 0; i < json_array_size(services) && !found; i++) {
		const char *type = cloud_answer_text(json_array_get(services, i), "type");
		const char *address = cloud_answer_text(json_array_get(services, i), "address");

		found = type && address && strcmp(type, "dns") == 0 && strcmp(address, "213.186.33.99") == 0;
	}
	json_decref(root);
	return found;
}

bool take_ovh_metadata(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const char *zone = cloud_answer_text(root, "availability_zone");
	bool taken = json_is_object(root);

	/* OpenStack's default is "nova". */
	if (zone && strcmp(zone, "nova") != 0)
		take_cloud_region(reading, zone, strlen(zone));
	take_member(reading, CLOUD_ACCOUNT_ID, root, "project_id");
	json_decref(root);
	return taken;
}

bool take_upcloud(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const char *name = cloud_answer_text(root, "cloud_name");
	bool taken = name && strcmp(name, "upcloud") == 0;

	if (taken)
		take_member(reading, CLOUD_REGION_ID, root, "region");
	json_decref(root);
	return taken;
}

bool take_vultr(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	bool taken = cloud_answer_text(root, "instanceid") || cloud_answer_text(root, "instance-v2-id");

	if (taken)
		take_member(reading, CLOUD_REGION_ID, json_object_get(root, "region"), "regioncode");
	json_decref(root);
	return taken;
}

bool take_oracle(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const char *id = cloud_answer_text(root, "id");
	bool taken = id && strncmp(id, "ocid1.instance.", 15) == 0;

	if (taken) {
		if (!take_member(reading, CLOUD_REGION_ID, root, "canonicalRegionName"))
			take_member(reading, CLOUD_REGION_ID, root, "region");
		take_member(reading, CLOUD_ZONE_ID, root, "availabilityDomain");
		take_member(reading, CLOUD_INSTANCE_TYPE, root, "shape");
		take_member(reading, CLOUD_ACCOUNT_ID, root, "tenantId");
	}
	json_decref(root);
	return taken;
}

bool take_digitalocean(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	bool taken = json_is_integer(json_object_get(root, "droplet_id")) &&
		     take_member(reading, CLOUD_REGION_ID, root, "region");

	json_decref(root);
	return taken;
}

bool take_scaleway(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const json_t *location = json_object_get(root, "location");
	bool taken = cloud_answer_text(root, "commercial_type") &&
		     (cloud_answer_text(root, "zone") || cloud_answer_text(location, "zone_id"));
	const char *zone;

	if (taken) {
		take_member(reading, CLOUD_INSTANCE_TYPE, root, "commercial_type");
		if (!take_member(reading, CLOUD_ZONE_ID, root, "zone"))
			take_member(reading, CLOUD_ZONE_ID, location, "zone_id");
		/* "fr-par-1" is in region "fr-par". */
		zone = fact_text(&reading->facts, CLOUD_ZONE_ID);
		if (zone && strrchr(zone, '-'))
			take_cloud_region(reading, zone, (size_t)(strrchr(zone, '-') - zone));
		if (!take_member(reading, CLOUD_ACCOUNT_ID, root, "project"))
			take_member(reading, CLOUD_ACCOUNT_ID, root, "organization");
	}
	json_decref(root);
	return taken;
}

bool take_linode(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	bool taken = json_is_integer(json_object_get(root, "id")) && cloud_answer_text(root, "host_uuid") &&
		     cloud_answer_text(root, "type") && take_member(reading, CLOUD_REGION_ID, root, "region");

	if (taken) {
		take_member(reading, CLOUD_INSTANCE_TYPE, root, "type");
		take_member(reading, CLOUD_ACCOUNT_ID, root, "account_euuid");
	}
	json_decref(root);
	return taken;
}

bool take_ibm_token(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const char *token = cloud_answer_text(root, "access_token");
	bool taken = token && keep_token(reading, token, strlen(token));

	json_decref(root);
	return taken;
}

/* "crn:v1:bluemix:public:is:us-south-1:a/ACCOUNT::instance:ID" */
static void take_ibm_account(struct cloud_reading *reading, const char *crn)
{
	const char *start = strstr(crn, ":a/"), *end = start ? strchr(start + 3, ':') : NULL;

	if (end)
		take_account(reading, start + 3, (size_t)(end - start - 3));
}

bool take_ibm(struct cloud_reading *reading, const char *bytes, size_t length)
{
	json_t *root = load_json(bytes, length);
	const char *crn = cloud_answer_text(root, "crn"), *zone;
	bool taken = crn && strncmp(crn, "crn:v1:", 7) == 0 &&
		     take_member(reading, CLOUD_ZONE_ID, json_object_get(root, "zone"), "name");

	if (taken) {
		take_member(reading, CLOUD_INSTANCE_TYPE, json_object_get(root, "profile"), "name");
		zone = fact_text(&reading->facts, CLOUD_ZONE_ID);
		if (strrchr(zone, '-'))
			take_cloud_region(reading, zone, (size_t)(strrchr(zone, '-') - zone));
		take_ibm_account(reading, crn);
	}
	json_decref(root);
	return taken;
}
