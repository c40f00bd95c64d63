/*
 * The clouds: the firmware texts of each, the questions to its metadata service, and the answer that proves its
 * identity. Parsers: cloud_answers.h.
 */
#include "discover/cloud.h"

#include "base/cleanup.h"
#include "discover/cloud_answers.h"

#define LINK_LOCAL "http://169.254.169.254"
/* Addresses instead of names, because a dead resolver must not cost a second. */
#define GOOGLE LINK_LOCAL "/computeMetadata/v1/"
#define ALIBABA "http://100.100.100.200/latest/"
#define SCALEWAY "http://169.254.42.42"

#define DMI(field) offsetof(struct sys_dmi, field)

/* ---- Amazon ----------------------------------------------------------------------------------------- */

static const struct cloud_mark AWS_MARKS[] = {
	{DMI(system_vendor), false, false, "Amazon EC2"},
	{DMI(bios_vendor), false, false, "Amazon EC2"},
	/* Xen instances: "4.11.amazon". */
	{DMI(bios_version), false, false, "4.2.amazon"},
	{DMI(bios_version), false, false, "4.11.amazon"},
};

static const struct cloud_step AWS_STEPS[] = {
	{.method = "PUT",
	 .url = LINK_LOCAL "/latest/api/token",
	 .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300"},
	 .may_fail = true, /* version 1 of the service has no tokens */
	 .take = take_token},
#define AWS_TOKEN .token_header = "X-aws-ec2-metadata-token: "
	{.url = LINK_LOCAL "/latest/meta-data/services/domain", AWS_TOKEN, .take = take_aws_domain},
	{.url = LINK_LOCAL "/latest/meta-data/placement/region", AWS_TOKEN, .take = take_cloud_region},
	{.url = LINK_LOCAL "/latest/meta-data/instance-type", AWS_TOKEN, .optional = true, .take = take_type},
	{.url = LINK_LOCAL "/latest/meta-data/placement/availability-zone",
	 AWS_TOKEN,
	 .optional = true,
	 .take = take_zone},
	{.url = LINK_LOCAL "/latest/meta-data/identity-credentials/ec2/info",
	 AWS_TOKEN,
	 .optional = true,
	 .take = take_aws_account},
};

/* ---- Google ----------------------------------------------------------------------------------------- */

static const struct cloud_mark GCP_MARKS[] = {
	{DMI(product_name), true, false, "Google Compute Engine"},
	{DMI(system_vendor), true, false, "Google"},
};

#define FLAVOR_GOOGLE \
	.headers = {"Metadata-Flavor: Google"}, .answer_header = "Metadata-Flavor", .answer_value = "Google"
static const struct cloud_step GCP_STEPS[] = {
	{.url = GOOGLE "instance/machine-type", FLAVOR_GOOGLE, .take = take_gcp_type},
	{.url = GOOGLE "instance/zone", FLAVOR_GOOGLE, .take = take_gcp_zone},
	{.url = GOOGLE "project/project-id", FLAVOR_GOOGLE, .optional = true, .take = take_account},
};

/* ---- Microsoft -------------------------------------------------------------------------------------- */

/* "Microsoft Corporation" alone is any Hyper-V. Azure has this constant, which reads "MSFT AZURE VM". */
static const struct cloud_mark AZURE_MARKS[] = {
	{DMI(chassis_asset_tag), true, false, "7783-7084-3265-9085-8269-3286-77"},
};

static const struct cloud_step AZURE_STEPS[] = {
	{.url = LINK_LOCAL "/metadata/instance?api-version=2021-02-01",
	 .headers = {"Metadata: true"},
	 .take = take_azure},
};

/* ---- Hetzner ---------------------------------------------------------------------------------------- */

static const struct cloud_mark HCLOUD_MARKS[] = {{DMI(system_vendor), false, false, "Hetzner"}};
static const struct cloud_step HCLOUD_STEPS[] = {
	{.url = LINK_LOCAL "/hetzner/v1/metadata", .take = take_hcloud},
};

/* ---- OVH -------------------------------------------------------------------------------------------- */

/* Any OpenStack has this text. The name servers show that it is OVH's. */
static const struct cloud_mark OVH_MARKS[] = {
	{DMI(system_vendor), false, false, "OpenStack"},
	{DMI(product_name), false, false, "OpenStack"},
};

static const struct cloud_step OVH_STEPS[] = {
	{.url = LINK_LOCAL "/openstack/latest/network_data.json", .take = take_ovh_network},
	{.url = LINK_LOCAL "/openstack/latest/meta_data.json", .optional = true, .take = take_ovh_metadata},
	{.url = LINK_LOCAL "/latest/meta-data/instance-type", .optional = true, .take = take_type},
};

/* ---- UpCloud ---------------------------------------------------------------------------------------- */

static const struct cloud_mark UPCLOUD_MARKS[] = {{DMI(system_vendor), false, false, "UpCloud"}};
static const struct cloud_step UPCLOUD_STEPS[] = {
	{.url = LINK_LOCAL "/metadata/v1.json", .take = take_upcloud},
};

/* ---- Alibaba ---------------------------------------------------------------------------------------- */

static const struct cloud_mark ALICLOUD_MARKS[] = {{DMI(system_vendor), false, false, "Alibaba Cloud"}};

static const struct cloud_step ALICLOUD_STEPS[] = {
	{.method = "PUT",
	 .url = ALIBABA "api/token",
	 .headers = {"X-aliyun-ecs-metadata-token-ttl-seconds: 300"},
	 .may_fail = true,
	 .take = take_token},
#define ALIBABA_TOKEN .token_header = "X-aliyun-ecs-metadata-token: "
	{.url = ALIBABA "meta-data/instance/instance-type", ALIBABA_TOKEN, .take = take_alicloud_type},
	{.url = ALIBABA "meta-data/region-id", ALIBABA_TOKEN, .take = take_cloud_region},
	{.url = ALIBABA "meta-data/zone-id", ALIBABA_TOKEN, .optional = true, .take = take_zone},
	{.url = ALIBABA "meta-data/owner-account-id", ALIBABA_TOKEN, .optional = true, .take = take_account},
};

/* ---- Vultr ------------------------------------------------------------------------------------------ */

static const struct cloud_mark VULTR_MARKS[] = {{DMI(system_vendor), false, false, "Vultr"}};
static const struct cloud_step VULTR_STEPS[] = {{.url = LINK_LOCAL "/v1.json", .take = take_vultr}};

/* ---- Oracle ----------------------------------------------------------------------------------------- */

static const struct cloud_mark ORACLE_MARKS[] = {{DMI(chassis_asset_tag), true, false, "OracleCloud.com"}};
static const struct cloud_step ORACLE_STEPS[] = {
	{.url = LINK_LOCAL "/opc/v2/instance/",
	 .headers = {"Authorization: Bearer Oracle"},
	 .take = take_oracle},
};

/* ---- DigitalOcean ----------------------------------------------------------------------------------- */

static const struct cloud_mark DIGITALOCEAN_MARKS[] = {{DMI(system_vendor), false, false, "DigitalOcean"}};
static const struct cloud_step DIGITALOCEAN_STEPS[] = {
	{.url = LINK_LOCAL "/metadata/v1.json", .take = take_digitalocean},
};

/* ---- Scaleway --------------------------------------------------------------------------------------- */

static const struct cloud_mark SCALEWAY_MARKS[] = {{DMI(system_vendor), false, false, "Scaleway"}};
static const struct cloud_step SCALEWAY_STEPS[] = {
	{.url = SCALEWAY "/conf?format=json", .take = take_scaleway}};

/* ---- Linode ----------------------------------------------------------------------------------------- */

/* Older hosts only name QEMU. */
static const struct cloud_mark LINODE_MARKS[] = {
	{DMI(system_vendor), false, false, "Linode"},
	{DMI(system_vendor), false, false, "Akamai"},
	{DMI(system_vendor), true, true, "QEMU"},
};

static const struct cloud_step LINODE_STEPS[] = {
	{.method = "PUT",
	 .url = LINK_LOCAL "/v1/token",
	 .headers = {"Metadata-Token-Expiry-Seconds: 300"},
	 .take = take_token},
	{.url = LINK_LOCAL "/v1/instance",
	 .headers = {"Accept: application/json"},
	 .token_header = "Metadata-Token: ",
	 .take = take_linode},
};

/* ---- IBM -------------------------------------------------------------------------------------------- */

static const struct cloud_mark IBM_MARKS[] = {
	{DMI(chassis_vendor), false, false, "IBM:Cloud Compute Server"},
	{DMI(system_vendor), false, false, "IBM:Cloud Compute Server"},
	{DMI(chassis_asset_tag), false, false, "ibmcloud"},
};

static const struct cloud_step IBM_STEPS[] = {
	{.method = "PUT",
	 .url = LINK_LOCAL "/instance_identity/v1/token?version=2022-03-01",
	 .headers = {"Metadata-Flavor: ibm", "Content-Type: application/json"},
	 .body = "{\"expires_in\":300}",
	 .take = take_ibm_token},
	{.url = LINK_LOCAL "/metadata/v1/instance?version=2022-03-01",
	 .token_header = "Authorization: Bearer ",
	 .take = take_ibm},
};

#define VENDOR(name, marks, steps) \
	{ \
		name, marks, ARRAY_SIZE(marks), steps, ARRAY_SIZE(steps) \
	}
const struct cloud_vendor CLOUD_VENDORS[] = {
	VENDOR("aws", AWS_MARKS, AWS_STEPS),
	VENDOR("gcp", GCP_MARKS, GCP_STEPS),
	VENDOR("azure", AZURE_MARKS, AZURE_STEPS),
	VENDOR("hcloud", HCLOUD_MARKS, HCLOUD_STEPS),
	VENDOR("upcloud", UPCLOUD_MARKS, UPCLOUD_STEPS),
	VENDOR("vultr", VULTR_MARKS, VULTR_STEPS),
	VENDOR("alicloud", ALICLOUD_MARKS, ALICLOUD_STEPS),
	VENDOR("ovh", OVH_MARKS, OVH_STEPS),
	VENDOR("oracle", ORACLE_MARKS, ORACLE_STEPS),
	VENDOR("digitalocean", DIGITALOCEAN_MARKS, DIGITALOCEAN_STEPS),
	VENDOR("scaleway", SCALEWAY_MARKS, SCALEWAY_STEPS),
	VENDOR("linode", LINODE_MARKS, LINODE_STEPS),
	VENDOR("ibm", IBM_MARKS, IBM_STEPS),
};
const size_t CLOUD_VENDOR_COUNT = ARRAY_SIZE(CLOUD_VENDORS);
_Static_assert(ARRAY_SIZE(CLOUD_VENDORS) <= CLOUD_MOST_VENDORS, "raise CLOUD_MOST_VENDORS");
