/*
 * Name of a step that an engine runs by a shell: a rule of Snakemake, a task of Nextflow, a step of GitHub Actions.
 *
 * Engines tell the name in different places. The first of these that is there counts:
 *
 *   1. TRACKER_JOB_NAME and TRACKER_TASK_NAME, which the recorder reads itself;
 *   2. a command that names itself: ": resource-tracker-step JOB TASK;" anywhere in the text behind -c, percent-encoded.
 *      snakemake.smk writes it. Words with "=" are the request: cores=4 memory_mib=2048 attempt=2;
 *   3. Nextflow: the second line of .command.run in $NXF_TASK_WORKDIR, "# NEXTFLOW TASK: align (sample 3)";
 *   4. GitHub Actions: $GITHUB_JOB and $GITHUB_ACTION, which is the id of the step.
 */
#pragma once

#include "base/buffer.h"

enum { STEP_NAME_BYTES = 200, STEP_NUMBER_BYTES = 24 };

struct step {
	char job[STEP_NAME_BYTES];  /* "": unknown, as for task */
	char task[STEP_NAME_BYTES]; /* the part of the job that runs again each time */
	const char *orchestrator;   /* NULL: unknown */
	/* The engine's request, "" if unknown. */
	char cores[STEP_NUMBER_BYTES], memory_mib[STEP_NUMBER_BYTES], attempt[STEP_NUMBER_BYTES];
};

/* Reads the name in the text of a command. Returns false, and leaves ret_step alone, if the text names no step. */
bool step_of_command(const char *text, struct step *ret_step);

/* Reads the name in the text of Nextflow's .command.run. False as above. */
bool step_of_nextflow(const char *text, size_t length, struct step *ret_step);

/* Fills ret_step from all places above. command is the text behind -c, or NULL. */
void step_find(const char *command, struct step *ret_step);

/*
 * Puts the request into the environment, from which the recorder takes it (TRACKER_CORES_ASKED, TRACKER_MEMORY_ASKED_MIB,
 * TRACKER_ATTEMPT). Variables of an engine that sets them itself stay.
 */
void step_export(const struct step *step);

/*
 * Writes the template of an output with %n (the step) and %h (the host) filled in. All else is left to the recorder. The name of
 * a file gets a %u before its extension: two containers with a process 7 may share a folder, and a name may be used again.
 */
void step_expand(const char *template, const struct step *step, struct buffer *out);
