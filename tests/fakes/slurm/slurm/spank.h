/* The part of Slurm's <slurm/spank.h> that src/slurm uses, for tests without Slurm; slurmstepd.c has the functions. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

typedef struct spank_handle *spank_t;

typedef enum spank_item {
	S_JOB_UID,
	S_JOB_GID,
	S_JOB_ID,
	S_JOB_STEPID,
	S_JOB_NODEID,
	S_JOB_TOTAL_TASK_COUNT,
	S_JOB_NCPUS,
	S_JOB_ENV,
	S_JOB_SUPPLEMENTARY_GIDS,
	S_TASK_ID,
	S_TASK_GLOBAL_ID,
	S_TASK_EXIT_STATUS,
	S_TASK_PID,
} spank_item_t;

typedef enum spank_err { ESPANK_SUCCESS, ESPANK_ERROR } spank_err_t;

typedef int (*spank_opt_cb_f)(int value, const char *argument, int remote);

struct spank_option {
	char *name, *arginfo, *usage;
	int has_arg, val;
	spank_opt_cb_f cb;
};

#define SPANK_PLUGIN(name, version) \
	const char plugin_name[] = #name; \
	const char plugin_type[] = "spank"; \
	const unsigned int plugin_version = 0; \
	const unsigned int spank_plugin_version = version;

int spank_remote(spank_t spank);
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...);
spank_err_t spank_option_register(spank_t spank, struct spank_option *option);
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
