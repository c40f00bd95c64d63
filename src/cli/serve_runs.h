/* Recorders of one command from one start of the program: see launch/run_server.h. */
#pragma once

/*
 * Returns at once unless the first argument is SERVE_RUNS. Otherwise it returns in each recorder, with the arguments of that one, and
 * the process that was started exits here.
 */
void serve_runs(int *argc, char ***argv);

/* The recorder's job has ended. Returns once `repeat` has read its counter, at once without a server. */
void say_that_job_ended(void);
