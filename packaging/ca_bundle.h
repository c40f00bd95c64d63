/* Included by each file of curl in the portable builds: the default CA bundle is a variable, see ca_bundle.c. */
#pragma once
#define CURL_CA_BUNDLE rt_default_ca_bundle
extern char rt_default_ca_bundle[64];
