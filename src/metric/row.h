/* The kinds of rows, and the head that a row of any kind begins with. */
#pragma once

#include <stdint.h>

/* In the order of the catalogue (catalogue.c checks it). They stand here so that a new metric compiles no generic code. */
enum row_kind {
	ROW_sample,
	ROW_host_cpu,
	ROW_cpu_core,
	ROW_tree,
	ROW_program,
	ROW_memory,
	ROW_numa,
	ROW_energy,
	ROW_network,
	ROW_disk,
	ROW_mount,
	ROW_job_disk,
	ROW_gpu,
	ROW_gpu_detail,
	ROW_gpu_process,
	ROW_totals,
	ROW_limits,
	ROW_cgroup,
	ROW_pressure,
	ROW_tracker,
	ROW_run_start,
	ROW_run_start_tag,
	ROW_run_start_scheduler,
	ROW_run_start_gpu,
	ROW_cloud,
	ROW_wait,
	ROW_signal_at,
	ROW_run_end,
	ROW_run_end_program,
	ROW_run_end_wait,
	ROW_run_end_signal,
	ROW_first_failure,
	ROW_failure,
	ROW_KINDS
};

struct row {
	struct row *next;   /* of the same kind, in the order in which they were added */
	struct row *parent; /* NULL for the sample */
	int64_t read_ns;    /* CLOCK_MONOTONIC of its counters; 0: as the frame's */
	enum row_kind kind;
	int number;          /* tells rows without a name, or of one name, apart */
	int cpus;            /* whose times its counters add up; 0: as the frame's */
	double counted_secs; /* all time that the kernel counted for them, idle or not; 0: it does not say */
	double most_bytes;   /* that the device can move in a second; 0: unknown */
};
