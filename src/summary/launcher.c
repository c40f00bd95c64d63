/* Knows programs whose work is done elsewhere; see launcher.h. */
#include "summary/launcher.h"

#include <string.h>

#include "base/cleanup.h"

/* A client that worked itself, but was kept from the CPU, wanted more than the second. */
static const double IDLE_CORES = 0.3, IDLE_CORES_WANTED = 0.5, LEAST_SHARE = 0.5;

static const struct launcher LAUNCHERS[] = {
	{"srun", "srun resource-tracker -- COMMAND"},
	{"jsrun", "jsrun resource-tracker -- COMMAND"},
	{"aprun", "aprun resource-tracker -- COMMAND"},
	{"flux", "flux run resource-tracker -- COMMAND"},
	{"mpirun", "mpirun resource-tracker -o rank-%r.jsonl -- COMMAND"},
	{"mpiexec", "mpiexec resource-tracker -o rank-%r.jsonl -- COMMAND"},
	{"sbatch", "resource-tracker -- COMMAND in the script"},
	{"qsub", "resource-tracker -- COMMAND in the script"},
	{"bsub", "bsub resource-tracker -- COMMAND"},
	{"condor_submit", "resource-tracker as the executable of the submit file"},
	{"docker",
	 "docker run IMAGE resource-tracker -- COMMAND, or --pid with the container's first process"},
	{"nerdctl",
	 "nerdctl run IMAGE resource-tracker -- COMMAND, or --pid with the container's first process"},
	{"podman",
	 "podman run IMAGE resource-tracker -- COMMAND, or --pid with the container's first process"},
	{"kubectl", "resource-tracker -- COMMAND as the command of the container"},
	{"oc", "resource-tracker -- COMMAND as the command of the container"},
	{"ssh", "ssh HOST resource-tracker -- COMMAND"},
	{"systemd-run", "systemd-run resource-tracker -- COMMAND"},
};

const struct launcher *find_launcher(const char *executable)
{
	const char *slash = strrchr(executable, '/');
	const char *name = slash ? slash + 1 : executable;

	for (size_t i = 0; i < ARRAY_SIZE(LAUNCHERS); i++)
		if (strcmp(LAUNCHERS[i].name, name) == 0)
			return &LAUNCHERS[i];
	return NULL;
}

const struct launcher *idle_launcher(const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);
	double cores = summary_mean_cores(summary);
	double short_cores = summary_cpu_short_secs(summary) / summary->wall_secs;
	const struct launcher *launcher;

	if (!start || text_absent(start->executable) || !(cores < IDLE_CORES) ||
	    cores + short_cores >= IDLE_CORES_WANTED)
		return NULL;
	launcher = find_launcher(start->executable);
	if (launcher || !(summary->programs.launcher_secs >= LEAST_SHARE * summary->wall_secs))
		return launcher;
	return summary->programs.launcher;
}
