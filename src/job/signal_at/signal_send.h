/* Sends a signal to the job. */
#pragma once

#include "job/signal_at/signal_rule.h"
#include "job/tree/process_tree.h"

/*
 * Sends the signal of a rule to the processes that it names, and returns how many got it. *ret_why says why others did not, NULL if none was left
 * out. It stays as it was if there is no such process. A process that has no handler for SIGUSR1 or SIGUSR2 would die of it: it gets none.
 */
int64_t signal_send(const struct process_tree *tree, const struct signal_rule *rule, const char **ret_why);
