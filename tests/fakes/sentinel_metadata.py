"""Answers of the clouds' metadata services, after their documents; values are examples from there.

VENDORS[id] = (answers, cloud_* facts that are to be found). An answer is keyed by "METHOD path"; a value is the
body, or (needed headers, body) or (needed headers, body, headers of the answer). A request without a needed header
is refused as the service does.
"""
import json

AWS_TOKEN = "AQAEAKv9m-token-of-IMDSv2=="
ALI_TOKEN = "AQAAAMc_token-of-alibaba"
NEED_AWS = {"X-aws-ec2-metadata-token": AWS_TOKEN}
NEED_ALI = {"X-aliyun-ecs-metadata-token": ALI_TOKEN}
NEED_GOOGLE = {"Metadata-Flavor": "Google"}
GOOGLE = [("Metadata-Flavor", "Google"), ("Server", "Metadata Server for VM")]


def facts(vendor, region=None, zone=None, kind=None, account=None):
    return {"cloud_vendor_id": vendor, "cloud_account_id": account, "cloud_region_id": region, "cloud_zone_id": zone,
            "cloud_instance_type": kind}


def aws(domain="amazonaws.com", region="us-west-2"):
    return {
        "PUT /latest/api/token": ({"X-aws-ec2-metadata-token-ttl-seconds": None}, AWS_TOKEN),
        "GET /latest/meta-data/": (NEED_AWS, "ami-id\nami-launch-index\nhostname"),
        "GET /latest/meta-data/services/domain": (NEED_AWS, domain),
        "GET /latest/meta-data/placement/region": (NEED_AWS, region),
        "GET /latest/meta-data/placement/availability-zone": (NEED_AWS, region + "b"),
        "GET /latest/meta-data/instance-type": (NEED_AWS, "g4dn.xlarge"),
        "GET /latest/meta-data/identity-credentials/ec2/info": (NEED_AWS, json.dumps({
            "Code": "Success", "LastUpdated": "2026-05-02T18:50:40Z", "AccountId": "123456789012"}, indent=2,
            separators=(",", " : "))),
    }


def without_tokens(answers):
    """Version 1 of the service neither makes nor needs tokens."""
    return {key: answer[1] if isinstance(answer, tuple) else answer for key, answer in answers.items()
            if not key.startswith("PUT")}


AZURE = {
    "compute": {"azEnvironment": "AzurePublicCloud", "customData": "", "isHostCompatibilityLayerVm": "false",
                "licenseType": "", "location": "westus", "name": "examplevmname", "offer": "UbuntuServer",
                "osType": "Linux", "platformFaultDomain": "36", "provider": "Microsoft.Compute",
                "resourceGroupName": "macikgo-test-may-23", "sku": "18.04-LTS",
                "subscriptionId": "8d10da13-8125-4ba9-a717-bf7490507b3d",
                "vmId": "02aab8a4-74ef-476e-8182-f6d2ba4166a6", "vmScaleSetName": "crpteste9vflji9",
                "vmSize": "Standard_A3", "zone": "1"},
    "network": {"interface": [{"ipv4": {"ipAddress": [{"privateIpAddress": "10.144.133.132"}]}}]},
}

OVH_NETWORK = {
    "links": [{"id": "tap1", "vif_id": "0d2", "type": "bridge", "mtu": 1500}],
    "networks": [{"id": "network0", "type": "ipv4_dhcp", "link": "tap1"}],
    "services": [{"type": "dns", "address": "10.0.0.2"}, {"type": "dns", "address": "213.186.33.99"}],
}

OVH_METADATA = {"uuid": "d8e02d56", "availability_zone": "GRA11", "hostname": "b2-7-gra11.novalocal", "launch_index": 0,
                "project_id": "f7ac731cc11f40efbc03a9f9e1d1d21f", "name": "b2-7-gra11", "random_seed": "xx"}

VULTR = {"bgp": {"ipv4": {"my-address": ""}}, "hostname": "vultr-guest", "instance-v2-id": "ae8c3f6b-8b06",
         "instanceid": "a747bfz6385e", "interfaces": [], "public-keys": "", "region": {"countrycode": "US",
                                                                                      "regioncode": "EWR"}}

UPCLOUD = {"cloud_name": "upcloud", "instance_id": "00e93d94-8b9e-4d5c-a42f-7a1c9f1c2c3d", "hostname": "debian",
           "network": {}, "platform": "servers", "region": "fi-hel1", "subscription": "", "tags": []}

ORACLE = {
    "availabilityDomain": "EMIr:PHX-AD-1", "faultDomain": "FAULT-DOMAIN-3",
    "compartmentId": "ocid1.tenancy.oc1..exampleuniqueID", "displayName": "my-example-instance",
    "id": "ocid1.instance.oc1.phx.exampleuniqueID", "image": "ocid1.image.oc1.phx.exampleuniqueID",
    "metadata": {"ssh_authorized_keys": "ssh-rsa AAAA"}, "region": "phx", "canonicalRegionName": "us-phoenix-1",
    "ociAdName": "phx-ad-1", "regionInfo": {"realmKey": "oc1", "regionIdentifier": "us-phoenix-1"},
    "shape": "VM.Standard.E3.Flex", "state": "Running", "timeCreated": 1600381928581,
    "tenantId": "ocid1.tenancy.oc1..exampletenant",
}

DIGITALOCEAN = {"droplet_id": 2756294, "hostname": "sample-droplet", "vendor_data": "#cloud-config", "public_keys": [],
                "region": "nyc3", "interfaces": {"public": []}, "dns": {"nameservers": ["2001:4860:4860::8844"]}}

SCALEWAY = {"id": "cb7ea9f1", "name": "scw-test", "commercial_type": "DEV1-S", "hostname": "scw-test",
            "organization": "11111111-1111", "project": "22222222-2222", "tags": [], "state_detail": "booted",
            "public_ip": {"id": "x", "address": "51.15.0.1"}, "zone": "fr-par-1",
            "location": {"platform_id": "14", "zone_id": "fr-par-1"}}

LINODE = {"id": 12345678, "label": "my-linode", "region": "us-iad", "type": "g6-standard-2", "tags": [],
          "specs": {"vcpus": 2, "memory": 4096, "gpus": 0, "transfer": 4000, "disk": 81920},
          "backups": {"enabled": False}, "host_uuid": "a4a4d1c2", "account_euuid": "A1B2-EUUID"}

IBM_TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "x" * 1500 + ".sig"
IBM = {"bandwidth": 4000, "created_at": "2026-03-27T22:15:56.000Z", "id": "eb1b7391-2ca2-4ab5-84a8-b92157a633b0",
       "crn": "crn:v1:bluemix:public:is:us-south-1:a/1d2f3a4b::instance:eb1b7391-2ca2-4ab5-84a8-b92157a633b0",
       "memory": 8, "name": "my-instance", "profile": {"name": "bx2-2x8"}, "vcpu": {"count": 2},
       "zone": {"name": "us-south-1"}}

HCLOUD = """availability-zone: fsn1-dc14
hostname: my-server
instance-id: 12345678
local-ipv4: ''
network-config:
  config:
  - mac_address: 96:00:00:00:00:01
    region: nowhere
public-ipv4: 5.75.128.1
public-keys:
- ssh-ed25519 AAAA
region: eu-central
vendor_data: |
  #cloud-config
"""

ALICLOUD = {
    "PUT /latest/api/token": ({"X-aliyun-ecs-metadata-token-ttl-seconds": None}, ALI_TOKEN),
    "GET /latest/meta-data/": (NEED_ALI, "dns-conf/\ninstance-id"),
    "GET /latest/meta-data/instance/instance-type": (NEED_ALI, "ecs.g6.large"),
    "GET /latest/meta-data/region-id": (NEED_ALI, "cn-hangzhou"),
    "GET /latest/meta-data/zone-id": (NEED_ALI, "cn-hangzhou-i"),
    "GET /latest/meta-data/owner-account-id": (NEED_ALI, "1609000000000000"),
}

VENDORS = {
    "aws": (aws(), facts("aws", "us-west-2", "us-west-2b", "g4dn.xlarge", "123456789012")),
    "gcp": ({
        "GET /computeMetadata/v1/instance/machine-type": (
            NEED_GOOGLE, "projects/123456789012/machineTypes/n1-standard-1", GOOGLE),
        "GET /computeMetadata/v1/instance/zone": (NEED_GOOGLE, "projects/123456789012/zones/us-central1-a", GOOGLE),
        "GET /computeMetadata/v1/project/project-id": (NEED_GOOGLE, "my-project", GOOGLE),
    }, facts("gcp", "us-central1", "us-central1-a", "n1-standard-1", "my-project")),
    "azure": ({"GET /metadata/instance?api-version=2021-02-01": ({"Metadata": "true"}, json.dumps(AZURE))},
              facts("azure", "westus", "1", "Standard_A3", "8d10da13-8125-4ba9-a717-bf7490507b3d")),
    "hcloud": ({"GET /hetzner/v1/metadata": HCLOUD, "GET /hetzner/v1/metadata/instance-id": "12345678"},
               facts("hcloud", "eu-central", "fsn1-dc14")),
    "upcloud": ({"GET /metadata/v1.json": json.dumps(UPCLOUD)}, facts("upcloud", "fi-hel1")),
    # Vultr, DigitalOcean and OVH imitate parts of Amazon's service.
    "vultr": ({"GET /v1.json": json.dumps(VULTR), "GET /latest/meta-data/instance-type": "vc2-1c-1gb",
               "GET /latest/meta-data/placement/region": "ewr"}, facts("vultr", "EWR")),
    "alicloud": (ALICLOUD, facts("alicloud", "cn-hangzhou", "cn-hangzhou-i", "ecs.g6.large", "1609000000000000")),
    "ovh": ({
        "GET /openstack/latest/network_data.json": json.dumps(OVH_NETWORK),
        "GET /openstack/latest/meta_data.json": json.dumps(OVH_METADATA),
        "GET /latest/meta-data/instance-type": "b2-7",
        "GET /latest/meta-data/placement/availability-zone": "nova",
        "GET /latest/meta-data/": "ami-id\ninstance-type\n",
    }, facts("ovh", "GRA11", None, "b2-7", "f7ac731cc11f40efbc03a9f9e1d1d21f")),
    "oracle": ({"GET /opc/v2/instance/": ({"Authorization": "Bearer Oracle"}, json.dumps(ORACLE))},
               facts("oracle", "us-phoenix-1", "EMIr:PHX-AD-1", "VM.Standard.E3.Flex",
                     "ocid1.tenancy.oc1..exampletenant")),
    "digitalocean": ({"GET /metadata/v1.json": json.dumps(DIGITALOCEAN)}, facts("digitalocean", "nyc3")),
    "scaleway": ({"GET /conf?format=json": json.dumps(SCALEWAY)},
                 facts("scaleway", "fr-par", "fr-par-1", "DEV1-S", "22222222-2222")),
    "linode": ({
        "PUT /v1/token": ({"Metadata-Token-Expiry-Seconds": None}, '["linode-token-abc"]'),
        "GET /v1/instance": ({"Metadata-Token": "linode-token-abc", "Accept": "application/json"}, json.dumps(LINODE)),
    }, facts("linode", "us-iad", None, "g6-standard-2", "A1B2-EUUID")),
    "ibm": ({
        "PUT /instance_identity/v1/token?version=2022-03-01": (
            {"Metadata-Flavor": "ibm"}, json.dumps({"access_token": IBM_TOKEN, "expires_in": 300})),
        "GET /metadata/v1/instance?version=2022-03-01": ({"Authorization": f"Bearer {IBM_TOKEN}"}, json.dumps(IBM)),
    }, facts("ibm", "us-south", "us-south-1", "bx2-2x8", "1d2f3a4b")),
}

# The firmware's answer: the file in /sys/class/dmi/id and its text.
FIRMWARE = {
    "aws": {"sys_vendor": "Amazon EC2", "product_name": "g4dn.xlarge", "board_asset_tag": "i-0123456789abcdef0"},
    "gcp": {"sys_vendor": "Google", "product_name": "Google Compute Engine"},
    "azure": {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine",
              "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"},
    "hcloud": {"sys_vendor": "Hetzner", "product_name": "vServer"},
    "upcloud": {"sys_vendor": "UpCloud", "product_name": "Server"},
    "vultr": {"sys_vendor": "Vultr", "product_name": "VC2"},
    "alicloud": {"sys_vendor": "Alibaba Cloud", "product_name": "Alibaba Cloud ECS"},
    "ovh": {"sys_vendor": "OpenStack Foundation", "product_name": "OpenStack Nova"},
    "oracle": {"sys_vendor": "QEMU", "chassis_asset_tag": "OracleCloud.com"},
    "digitalocean": {"sys_vendor": "DigitalOcean", "product_name": "Droplet"},
    "scaleway": {"sys_vendor": "Scaleway", "product_name": "SCW-DEV1-S"},
    "linode": {"sys_vendor": "QEMU", "product_name": "Standard PC (Q35 + ICH9, 2009)"},
    "ibm": {"sys_vendor": "QEMU", "chassis_vendor": "IBM:Cloud Compute Server 1.0:bx2-2x8"},
}


def service(answers):
    """Returns the answering function of sentinel.Metadata for one vendor's answers."""

    def respond(request):
        answer = answers.get(f"{request['method']} {request['path']}")
        if answer is None:
            return 404, b"<html>404 - Not Found</html>"
        if not isinstance(answer, tuple):
            return 200, answer
        needed, body, *headers = answer
        given = {name.lower(): value for name, value in request["headers"].items()}
        for name, value in needed.items():
            if name.lower() not in given or (value is not None and given[name.lower()] != value):
                return (401 if "token" in name.lower() else 400), b"refused"
        return (200, body, *headers)

    return respond
