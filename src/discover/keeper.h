/*
 * `resource-tracker-net keeper servers|price`: prints cloud servers of the Spare Cores Keeper API as one JSON
 * object on stdout. `recommend --server` and the cost figures ask through it.
 *
 *   keeper servers --vcpus N --memory-mib M [--gpus N] [--gpu-memory-mib M] [--limit N] [--filter KEY=VALUE]...
 *     {"asked":URL,"problem":null,"servers":[{"vendor_id":"aws","api_reference":"t4g.nano","display_name":...,
 *      "vcpus":2,"memory_mib":512,"gpu_count":0,"price_usd_per_hour":0.0042,"url":"https://sparecores.com/..."}]}
 *   keeper price --vendor ID --instance-type NAME [--region ID]
 *     {"asked":URL,"problem":null,"price_usd_per_hour":0.0042,"region_id":"us-east-1"}
 *
 * Without a usable answer (offline, refused, nonsense) "problem" is one line and the result is null; "asked" has the
 * URL in any case. The exit status is 0 in every case but wrong usage (2).
 *
 * Units: ours are MiB. The API's memory_min and gpu_memory_total are GB of 1024 MiB, fractions allowed, its
 * vcpus_min is 1 to 256.
 */
#pragma once

#include "base/buffer.h"

struct settings;
struct arguments;

int keeper_main(const struct settings *settings, char **argv);

/* ---- pure ------------------------------------------------------------------------------------------- */

void keeper_servers_url(struct buffer *out, const char *base_url, const struct arguments *arguments);
void keeper_price_url(struct buffer *out, const char *base_url, const struct arguments *arguments);

/* Appends the JSON list of servers from an answer. -EBADMSG when the answer holds none. */
int keeper_add_servers(struct buffer *out, const char *bytes, size_t length);

/*
 * The on-demand price for Linux in the region, else in the first region that has one. 0, -ENOENT (no such
 * price), -EBADMSG.
 */
enum { KEEPER_REGION_SIZE = 64 };
int keeper_find_price(const char *bytes, size_t length, const char *region, double *ret_usd_per_hour,
		      char ret_region[KEEPER_REGION_SIZE]);
