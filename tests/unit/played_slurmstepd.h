/*
 * For tests of src/slurm/spank_track.c: the process stands for slurmstepd, and a shell for the recorder. Functions of the C library that the
 * plugin calls are in played_slurmstepd.c as well, so that a test chooses what they return.
 */
#pragma once

#include "scratch.h"

#include <slurm/spank.h>
#include <sys/resource.h>
#include <time.h>

int slurm_spank_init(spank_t spank, int argc, char **argv);
int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv);
int slurm_spank_task_exit(spank_t spank, int argc, char **argv);
int slurm_spank_exit(spank_t spank, int argc, char **argv);

enum { NONE = -1, OTHER_USER = 65534, VARIABLES = 5000, GROUPS = 65537, PID = 4321 };

/* Offers and messages of the plugin. */
extern struct spank_option offered;
extern int asked, errors;
extern char last_error[1000];

/* Answers of Slurm. */
extern spank_err_t offer_result;
extern int is_remote, missing, group_count;
extern uint32_t step, exit_status, task_pid, user;
extern char *environment[VARIABLES + 1];
extern gid_t groups[GROUPS];
extern const char *job_folder;

/* How long the plugin wants to wait each time, and an answer in the place of that of the kernel. */
extern struct polls {
	int times, wanted_ms[4], error;
	struct timespec then; /* the time after that error */
	bool is_late;
} polls;
extern struct timespec now;
extern struct rusage children;
extern int refused_dup2; /* this call fails; 0: none */

#define NEEDS_ROOT() \
	do { \
		NEEDS_THE_KERNEL_ITSELF(); \
		if (geteuid()) \
			SKIP("only root starts a recorder for another user"); \
	} while (0)

int spank_begin(void **state);
int spank_end(void **state);
#define unit_test_of_plugin(test) cmocka_unit_test_setup_teardown(test, spank_begin, spank_end)

void init_plugin(const char *word);
/* The folder of the test is the job's: where the step runs, or where the batch script was submitted. */
void put_environment(const char *folder_variable);
void fork_task(void);
void end_task(void);
/* Returns whether a recorder was started for one task. */
bool record_task(void);
/* The recorders are children of this process once the plugin has left them. Returns the status of the last one. */
int await_recorders(void);

/* Returns the exit code of a process that does this in the place of slurmstepd: the number of errors. */
int in_child(void (*act)(int number), int number);
/* From now on, this system call does nothing but what `action` of seccomp(2) says, if this is its first argument. */
void replace_call(long number, unsigned argument, unsigned action);

int open_descriptors(void);
bool file_has_line(const char *path, const char *line);
/* In the environment of the recorder. */
bool has_variable(const char *name);
#define EXPECT_VARIABLE(line) assert_true(file_has_line("env", line))
