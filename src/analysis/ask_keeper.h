/*
 * Questions to the Keeper API, through resource-tracker-net: this program opens no socket.
 *
 * Who asks gets an answer in any case: offline, or without that program, it has a problem and what was asked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "resource_tracker_analysis.h"

/* The cheapest server that fits, into the advice. 0 or -ENOMEM. */
int ask_for_server(rt_advice *advice, const char *const *filters, size_t filter_count);

/* The price of "vendor/region/type"; 0, or -ENOENT with a line that says why. */
int ask_for_price(const char *instance, double *ret_usd_per_hour, struct rt_problem *ret_problem);
