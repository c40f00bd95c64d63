/*
 * Says how much the next run needs, from earlier runs, the size of its input and its attempt, in pure functions.
 *
 * Three shapes describe how the need depends on the input: the same for every size, a line, and the runs nearest in size. Time has a
 * fourth, a power of the size: its scatter is relative, so that a line through it says too much for small inputs. Each earlier run is
 * judged by the shape without that run. The shape that would have cost least on these runs is used. docs/SIZING.md tells this to users.
 *
 * The same functions serve memory (MiB) and time (seconds): struct sizing_rule holds the difference.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SIZING_RUNS = 200 /* the newest count */,
	MEMORY_STEP_MIB = 16,
	LEAST_MIB = 32 /* of memory that is advised */,
	COST_LEAST_RUNS = 4 /* with fewer, the aim of least cost is the safe one */
};

enum sizing_shape { SHAPE_SAME, SHAPE_LINE, SHAPE_NEAREST, SHAPE_POWER };
enum sizing_aim { AIM_SAFE, AIM_P95, AIM_COST };
enum sizing_drift { DRIFT_NONE, DRIFT_UP, DRIFT_DOWN };

struct sized_run {
	double need;        /* what it took, above 0 */
	double input_bytes; /* NaN if unknown */
	double weight;      /* what a unit of need costs: its seconds for memory, 1 for time */
};

/* A run that was killed for want of what it had, while no good run shows what is enough. */
struct sized_kill {
	double had;
	double input_bytes; /* NaN if unknown */
};

struct sizing_rule {
	double least_margin, most_margin; /* of the safe aim: 0.02 to 0.15 for memory */
	double again;                     /* a second attempt has at least this times the largest need */
	double after_kill;                /* an attempt has at least this times what the one before had */
	bool is_time; /* a power of the size is a shape, and an input beyond the largest has at least what a line says */
};
extern const struct sizing_rule SIZING_MEMORY, SIZING_TIME;

struct sizing_question {
	enum sizing_aim aim;
	double input_bytes; /* NaN if unknown */
	unsigned attempt;   /* 1: the first; 0 counts as 1 */
	bool only_formula;  /* no nearest runs: for forms that compute from the size */
};

struct sizing_answer {
	double need;   /* to ask for. NaN: no runs */
	double base;   /* before the margin */
	double margin; /* 0.02 is 2 % */
	double usual;  /* half of the runs took no more for their size */
	enum sizing_shape shape;
	double fixed,
		per_byte; /* base of any size as a line: fixed + per_byte * input_bytes. Other shapes have no per_byte: 0 */
	double largest;      /* the largest need of the runs that count */
	double killed_share; /* of the runs that count, by this answer's factor */
	double cost;         /* of one run, by the shape: the least one decides */
	double kill_had;     /* of the kill that decides. NaN: none */
	size_t runs;         /* that count for the shape */
	size_t forgotten;    /* the oldest, as all later ones took less */
	enum sizing_drift drift;
	bool is_floor;  /* the largest need of a run of this size or less decides, which is above the shape */
	bool is_beyond; /* the input is larger than any known */
	bool is_retry;  /* the attempt decides */
	bool is_outlying; /* one run took more than three times the median, and its size does not say why */
};

/* Whether a run of this size shows what is enough for a killed one: the same size within 2 %, or a larger one. */
bool settles_kill(double input_bytes, double killed_input_bytes);

/* `runs` are ordered from oldest to newest, as are `kills`. Runs without a need above 0 are left out. */
struct sizing_answer size_need(const struct sizing_rule *rule, const struct sizing_question *question,
			       const struct sized_run *runs, size_t run_count, const struct sized_kill *kills,
			       size_t kill_count);

/*
 * The first attempt as an expression of the size of the input, for engines that compute: fixed + per_byte * input_bytes, held
 * between least and most. A later attempt has `after_kill` of the rule times the one before, and at least `second`.
 */
struct sizing_formula {
	bool has_sizes; /* enough runs have one */
	double fixed, per_byte, least, most, second;
	double nearest_saves; /* the part of the cost that the nearest runs, which no expression knows, would save. 0: none */
};

struct sizing_formula size_formula(const struct sizing_rule *rule, enum sizing_aim aim,
				   const struct sized_run *runs, size_t run_count,
				   const struct sized_kill *kills, size_t kill_count);

/* Checks each of the newest 50 runs, but the first, against the answer from the runs before it, rounded as advice is. */
struct backtest {
	size_t runs, killed;
	double reserved_per_used; /* NaN: no runs */
};
struct backtest size_backtest(const struct sizing_question *question, const struct sized_run *runs,
			      size_t count);

/* Rounds memory up to the next step of 16 MiB, at least 32 MiB. */
int64_t round_reservation_mib(double mib);
