/*
 * Whether the limits on processes leave some over for us.
 *
 * They count the tracker as well. Where few processes are left, they are kept for the job: signals are then judged without
 * the witness (wrap/judge.c), and no thread follows the process events (job/programs/program_listener.c).
 *
 *   /proc/self/cgroup		5:pids:/user.slice/a	0::/user.slice/a
 *   .../user.slice/a/pids.max	max, or a number
 */
#pragma once

#include <stdbool.h>

/* has_own_proc: /proc is that of our own PID namespace. */
bool has_room_for_processes(bool has_own_proc);
