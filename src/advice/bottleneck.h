/*
 * What held a run up, by what its recording says: the one place with these rules. `summary` prints the first, its JSON
 * form and the page have them all.
 *
 * rule                title                when
 * oom                 Memory               it, or a process of it, was killed for lack of memory
 * memory_near_limit   Memory               its peak reached 90 % of what it may use
 * cache_too_small      Memory               half of what it read from storage, and as much as it may use, had been in its
 *                                          page cache before; io_bound follows from that and is left out
 * throttled           CPU limit            its CPUs were held back for 10 % of the time; cpu_bound and cpu_pressure follow
 *                                          from that and are left out
 * cpu_bound           CPU                  85 % of its cores were busy on average
 * gpu_bound           GPU                  85 % of the GPUs that it used were busy on average
 * gpu_mostly          GPU, most of the time  60 % of them
 * io_bound            Disk                 something waited for I/O during 10 % of the time
 * memory_pressure     Memory pressure      something waited for memory during 10 % of the time
 * cpu_taken           Others on the machine  the same as cpu_pressure, while others used the larger part of the machine
 * cpu_pressure        Short of CPU         something waited for a CPU during 20 % of the time and none was free
 *                                          (cpu_course.h), and it is not cpu_bound
 * one_core            One core             it had more than one core, and used 0.75 to 1.15 of them during half of the
 *                                          time, not for want of a CPU
 * cpu_at_times        CPU, at times        85 % of its cores were busy during 20 % of the time, and it is not cpu_bound
 * idle                Idle                 none of them, and less than 0.3 cores were busy
 * none                None stands out      none of them
 * unknown             Unknown              none of them, and its CPU time is not recorded
 */
#pragma once

#include "advice/summary.h"

/* Of a summary that is complete, in it. The weightiest first; at least one, for the last two rules say that. */
void find_bottlenecks(struct rt_summary *summary);
