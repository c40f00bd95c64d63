/*
 * Reads the answers of metadata services: pure functions from bytes to facts.
 *
 * If the answer is not that vendor's, the function returns false and leaves the reading unchanged. Values have the
 * forms that price lists use: region ids, zone ids, API names of instance types. A value that is empty or
 * "unknown" is ignored.
 */
#pragma once

#include "discover/cloud.h"

/* Plain words, common to several: 1 to 159 printable characters without blanks. */
bool take_cloud_region(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_zone(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_type(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_account(struct cloud_reading *reading, const char *bytes, size_t length);
/* As text, or as the only member of a JSON list. */
bool take_token(struct cloud_reading *reading, const char *bytes, size_t length);

/* "amazonaws.com", and that of China. */
bool take_aws_domain(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_aws_account(struct cloud_reading *reading, const char *bytes, size_t length);
/* "projects/123/machineTypes/n1-standard-1" */
bool take_gcp_type(struct cloud_reading *reading, const char *bytes, size_t length);
/* "projects/123/zones/us-central1-a": the region is the zone without its last part. */
bool take_gcp_zone(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_azure(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_hcloud(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_ovh_network(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_ovh_metadata(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_upcloud(struct cloud_reading *reading, const char *bytes, size_t length);
/* "ecs.g6.large" */
bool take_alicloud_type(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_vultr(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_oracle(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_digitalocean(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_scaleway(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_linode(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_ibm_token(struct cloud_reading *reading, const char *bytes, size_t length);
bool take_ibm(struct cloud_reading *reading, const char *bytes, size_t length);
