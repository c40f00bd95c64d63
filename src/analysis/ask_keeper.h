/*
 * Asks the Keeper API through resource-tracker-net, because this program opens no socket.
 *
 * The caller always gets an answer. Without a network, or without that program, the answer holds the problem
 * and the question.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "resource_tracker_analysis.h"

/* Stores the cheapest server that fits in the advice. Returns 0 or -ENOMEM. */
int ask_for_server(rt_advice *advice, const char *const *filters, size_t filter_count);

/* Finds the price of "vendor/region/type". Returns 0, or -ENOENT with a line that says why. */
int ask_for_price(const char *instance, double *ret_usd_per_hour, struct rt_problem *ret_problem);
