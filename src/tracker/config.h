/*
 * The settings of a tracker, as plain typed fields behind rt_config_set().
 *
 * Every value is checked when it is set, so the fields can be trusted. Texts and lists belong to the config;
 * a text that was not set, or was set to nothing, is NULL.
 *
 * Options that concern the command alone (where samples go by default, waiting for descendants, warnings,
 * help) are not settings: see src/cli/options.def.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "resource_tracker.h"

enum config_format { FORMAT_BY_EXTENSION, FORMAT_JSON, FORMAT_CSV };

enum config_csv_layout {
	CSV_COMBINED,
	CSV_SYSTEM,
	CSV_PROCESS,
	CSV_SYSTEM_0_4,
	CSV_PROCESS_0_4,
	CSV_SYSTEM_0_1,
	CSV_PID_0_1,
};

enum config_cgroup { CGROUP_AUTO, CGROUP_OFF, CGROUP_REQUIRE };

enum config_gpu_vendor {
	GPU_VENDOR_ANY,
	GPU_VENDOR_NVIDIA,
	GPU_VENDOR_AMD,
	GPU_VENDOR_INTEL,
	GPU_VENDOR_DRM
};

enum config_stream { STREAM_OFF, STREAM_AUTO };

enum config_pss { PSS_AUTO, PSS_ALWAYS, PSS_OFF };

/*
 * "-" and "/dev/stdout" are descriptor 1, "/dev/stderr" is 2 and "/dev/fd/N" is N: the descriptor itself,
 * never opened again, so that a redirected file keeps one offset and is never renamed.
 */
struct config_output {
	char *path; /* as given, %h %p %t %r not yet expanded */
	int fd;     /* -1: open `path` */
};

struct config_tag {
	char *key; /* never empty */
	char *value;
};

struct rt_config {
	/* what is tracked */
	pid_t pid; /* 0: none */
	bool no_children;
	bool keep_running;

	/* when */
	int64_t interval_ns; /* >= 1 ms */
	bool align;
	int64_t start_at_ns; /* CLOCK_REALTIME; 0: at once */
	int64_t duration_ns; /* 0: no end */

	/* what is recorded */
	bool no_system;
	bool no_process;
	char **metrics; /* names or globs; none: everything */
	size_t metric_count;
	enum config_pss pss;
	enum config_cgroup cgroup;
	bool static_once;
	bool record_command;
	char *gpus; /* used, visible, all, or a list of what names devices; NULL: visible */
	enum config_gpu_vendor gpu_vendor;
	char *root_dir; /* NULL: the live system */

	/* where it goes */
	struct config_output *outputs;
	size_t output_count;
	enum config_format format;
	enum config_csv_layout csv_layout;
	bool no_header;
	bool append;

	/* what is kept in memory, from rt_config_set_history() */
	int64_t history_samples;
	char *history_metrics; /* NULL: those of the CSV layouts */

	/* streaming, and which cloud this is */
	enum config_stream stream;
	char *spool; /* folder; NULL: by default */
	int64_t upload_deadline_ns;
	bool cloud;
	char **variables; /* "NAME=VALUE", for the programs that talk to a network */
	size_t variable_count;

	/* what the job is called */
	char *job_name;
	char *project_name;
	char *stage_name;
	char *task_name;
	char *team;
	char *env;
	char *language;
	char *orchestrator;
	char *executor;
	char *external_run_id;
	char *container_image;
	struct config_tag *tags; /* in the order given, no key twice */
	size_t tag_count;

	/* the job itself, from rt_config_set_command() */
	char **argv; /* NULL-terminated; NULL: unknown */
	size_t argc;
	bool own_process; /* which does nothing but record */

	/* of several processes that were started together; from the launcher's environment; -1: none */
	int64_t rank;

	struct buffer
		given; /* all that was set, for another process: name, value, each with its NUL; not copied */
	struct buffer message; /* rt_config_message() */
};

/* A copy of everything but the message. Returns 0 or -ENOMEM. */
int config_copy(const struct rt_config *config, struct rt_config **ret_copy);

/* The number of this process among those that a launcher started together; -1: none. */
int64_t launcher_rank(void);

/* A variable of rt_config_set_variable(), else of the environment. NULL if it is unset or empty. */
const char *config_variable(const struct rt_config *config, const char *name);

/*
 * The environment with those variables, for exec. Free the returned block; its texts belong to the config and
 * the process.
 */
char **config_environment(const struct rt_config *config);

/* As csv_layout.h names it. */
const char *config_csv_layout_name(const struct rt_config *config);

/* The vendor's word; NULL for any. */
const char *config_gpu_vendor_name(const struct rt_config *config);

/* Replaces the message with one line and returns `error`. Control characters become '?'. */
int config_fail(struct rt_config *config, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
