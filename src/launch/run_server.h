/*
 * A recorder that records one command again and again, because a loader needs more time than a short run has. `repeat` starts it with
 * SERVE_RUNS and the number of a connection of packets, then "--output", a word that each run replaces, and the other words of a
 * recorder. It forks itself for each run, before that is asked for. The child waits for its request, and is then a recorder as any other.
 *
 * The server says which child waits. A request is two texts, each with its NUL: the output, and the file of runs ("": none). The child
 * answers with its pid, and gets signals from then on. Once its job has ended it says so, and waits for a byte before it starts programs
 * that make a summary, a page or a line of the run. The server answers with its status once it has ended. A connection without another end
 * ends both.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#define SERVE_RUNS "--serve-runs="

/* Each "%" of the output is doubled. */
enum { SERVE_REQUEST_BYTES = 3 * PATH_MAX };

struct serve_answer {
	int pid;        /* of the recorder, or a negative errno: no more runs can be made */
	bool job_ended; /* the child waits for a byte */
	bool has_ended;
	int status; /* as from waitpid() */
};
