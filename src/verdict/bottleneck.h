/*
 * The bottleneck of a run according to its recording. Only this file has these rules. `summary` prints the first
 * bottleneck. Its JSON form and the page list all of them.
 *
 * rule               title                  when
 * oom                Memory                 the run, or a process of it, was killed for lack of memory
 * memory_near_limit  Memory                 the peak reached 90 % of the memory limit
 * cache_too_small    Memory                 half of the bytes read from storage, and as much as the memory
 *                                           limit, had been in the page cache before; leaves out io_bound,
 *                                           which is an effect of it
 * throttled          CPU limit              the CPU limit held the run back for 10 % of the time, leaves out
 *                                           cpu_bound and cpu_pressure, which are effects of it
 * cpu_bound          CPU                    85 % of the run's cores were busy on average
 * gpu_bound          GPU                    85 % of the GPUs in use were busy on average
 * gpu_mostly         GPU, most of the time  60 % of them, or 50 % if they were 85 % busy from their first to their last use
 * gpu_memory         GPU memory             the run failed with a status, and 95 % of a GPU's memory had been in use, at least half
 *                                           of it by the run
 * gpu_starved        GPU input              the GPUs that it held had no work for 30 % of the time from their first to their last
 *                                           use, and the recording shows what kept their input (starved.h)
 * io_bound           Disk                   some process waited for I/O during 10 % of the time
 * memory_pressure    Memory pressure        some process waited for memory during 10 % of the time
 * cpu_taken          Others on the machine  as cpu_pressure, and others used the larger part of the machine
 * cpu_pressure       Short of CPU           some process waited for a CPU during 20 % of the time while no CPU
 *                                           was free (cpu_course.h), and its threads for a tenth of the time
 *                                           in which they could run, not with cpu_bound
 * cpu_confined       Confined to some CPUs  its threads waited for a CPU during 20 % of the time while other CPUs were
 *                                           free, and the scheduler took turns among them, not with cpu_bound
 * one_core           One core               the run had more than one core, used 0.75 to 1.15 of them during
 *                                           half of the time, and did not wait for more
 * cpu_at_times       CPU, at times          85 % of the cores were busy during 20 % of the time, not with
 *                                           cpu_bound
 * not_started        It did not start       the command could not be executed, no other rule applies
 * elsewhere          It ran elsewhere       no other rule, and the job was an idle client (launcher.h)
 * idle               Idle                   no other rule, and less than 0.3 cores were busy
 * none               None stands out        no other rule
 * waited             Waiting                no other rule, and one wait took at least 30 % of the time (docs/CAUSES.md)
 * unknown            Unknown                no other rule, and the recording has no CPU time or is shorter than 20 ms
 *
 * A wait or a burst of less than 10 ms does not count as a bottleneck.
 */
#pragma once

#include "summary/launcher.h"
#include "summary/summary.h"

enum { BOTTLENECKS_MOST = 12, BOTTLENECK_BYTES = 320 };

/* A bottleneck of the run. */
struct bottleneck {
	const char *rule, *title;
	char text[BOTTLENECK_BYTES]; /* a sentence */
	double weight;
};

struct verdict {
	struct bottleneck bottlenecks[BOTTLENECKS_MOST]; /* the most important first, at least one */
	size_t count;
};

struct verdict find_verdict(const struct run_facts *facts);

/*
 * Returns the launcher that was the job, or that a process of the job was for most of the run, if the job used so little CPU
 * time that the work was done elsewhere, else NULL.
 */
const struct launcher *idle_launcher(const struct run_facts *facts);
