/* Knows programs whose work is done elsewhere. See launcher.h. */
#include "summary/launcher.h"

#include <string.h>

#include "base/cleanup.h"

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
		if (LAUNCHERS[i].name[0] == name[0] && strcmp(LAUNCHERS[i].name, name) == 0)
			return &LAUNCHERS[i];
	return NULL;
}
