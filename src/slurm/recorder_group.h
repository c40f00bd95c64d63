/* The control group of the recorders that Slurm's plugin starts. */
#pragma once

/*
 * On control groups of version 2, slurmstepd runs in SCOPE/job_5/step_0/slurm. At the end of the step, it kills all other processes of that
 * group, and the limits of the job hold there. Recorders run in SCOPE/resource-tracker instead, beside all jobs. The group stays.
 *
 * `process` is /proc/self, which names the group of this process and the mounts. Returns a descriptor of that group's cgroup.procs, where "0" moves the writer; -ENOENT if this process is in no step's group,
 * as on version 1, where slurmstepd is in none that Slurm kills, or another negative errno.
 */
int open_recorder_group(const char *process);
