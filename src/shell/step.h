/*
 * Name of a step that an engine runs by a shell: a rule of Snakemake, a task of Nextflow, a step of GitHub Actions.
 *
 * Engines tell the name in different places. The first of these that is there counts:
 *
 *   1. TRACKER_JOB_NAME and TRACKER_TASK_NAME, which the recorder reads itself;
 *   2. a command that names itself: ": resource-tracker-step JOB TASK;" anywhere in the text behind -c, percent-encoded.
 *      snakemake.smk writes it. Words with "=" are the request, cores=4 memory_mib=2048 attempt=2, and files that the step
 *      reads and writes: input=reads/a.txt input=reads/b.txt output=all.txt;
 *   3. Nextflow: the second line of .command.run, "# NEXTFLOW TASK: align (sample 3)", in $NXF_TASK_WORKDIR or, if the task runs in
 *      a scratch folder, beside the script;
 *   4. GitHub Actions: $GITHUB_JOB and $GITHUB_ACTION, which is the id of the step.
 */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"

/*
 * Nextflow calls the folder of a task by a hash of 2 digits, a slash and 30 digits. Its first 12 tell tasks apart, so that 2,300 names
 * have room in a tag.
 */
enum { STEP_NAME_BYTES = 200, STEP_NUMBER_BYTES = 24, STEP_FOLDER_BYTES = 2 + 1 + 10 + 1 };

struct step {
	char job[STEP_NAME_BYTES];  /* "": unknown, as for task */
	char task[STEP_NAME_BYTES]; /* the part of the job that runs again each time */
	const char *orchestrator;   /* NULL: unknown */
	/* The engine's request, "" if unknown. */
	char cores[STEP_NUMBER_BYTES], memory_mib[STEP_NUMBER_BYTES], attempt[STEP_NUMBER_BYTES];
	struct scan words;              /* of a command that names itself, behind the job */
	char folder[STEP_FOLDER_BYTES]; /* of a task of Nextflow, "ab/0123456789". "": unknown */
};

/* Reads the name in the text of a command. Returns false, and leaves ret_step alone, if the text names no step. */
bool step_of_command(const char *text, struct step *ret_step);

/* Reads the name in the text of Nextflow's .command.run. False as above. */
bool step_of_nextflow(const char *text, size_t length, struct step *ret_step);

/* Fills ret_step from all places above. `command` is the text behind -c, or NULL, and `script` a file, or NULL. */
void step_find(const char *command, const char *script, struct step *ret_step);

/* Finds the next file among the words of a step, still percent-encoded. `key`: "input=" or "output=". */
bool step_next_file(struct scan *words, const char *key, struct scan *ret_name);

/*
 * Writes the tag that tells the workflow which steps need each other, "needs=a.txt b.txt" of the input or "makes=all.txt" of the
 * output, percent-encoded. False: the step tells no such file, unless `also_without`, or they have no room.
 */
bool step_write_tag(const struct step *step, const char *tag, const char *key, bool also_without,
		    struct buffer *out);

/* Decodes "s%3Dx" to "s=x", cut to `size` with its NUL. Returns its length. */
size_t step_decode(struct scan word, char *ret_text, size_t size);

/*
 * Finds the task of Nextflow in whose folder a file is, by its path, or by the link that leads to it from the folder `own` of another
 * task. Returns false if it is in none. ret_folder is "" for a file that Nextflow itself has made in work/tmp, of those of any tasks.
 */
bool step_find_maker(const char *path, const char *own, char ret_folder[static STEP_FOLDER_BYTES]);

/*
 * The bytes that the step reads, of an engine that says so: the `input` of a rule of Snakemake, or the files that Nextflow has
 * staged in this folder, with those in its folders and to which its links lead. Returns 0 if they are unknown, for instance
 * because a file system does not answer, and if they are empty.
 *
 * `makers` gets the tasks of Nextflow that made these files, with a blank before each. It stays empty if one may be missing: not all
 * of the files are links, none leads to a task, or Nextflow has put one together itself. Then values may be what the task waited for.
 */
int64_t step_input_bytes(const struct step *step, struct buffer *makers);

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
