/* The memory samples of a run, which may have different measures (record/tree_memory.h). */
#pragma once

#include <stdint.h>

#include "metric/frame.h"
#include "summary/sums.h"

struct tree_row;

/* Memory samples with the same measure. */
struct measured_memory {
	struct figure figure;
	char source[16]; /* of the maximum */
	int64_t samples;
	double resident_mib; /* the largest resident set among them */
};

/* A sample is held back while a better one may disprove it. */
struct memory_facts {
	struct measured_memory kept, held_back;
	char source[16];      /* of the maximum */
	double disproved_mib; /* largest figure left out, 0 for none */
	int64_t disproved_samples;
	char sources[64];  /* "rss, pss": all samples that count */
	unsigned measures; /* bits of enum memory_measure */
};

void memory_facts_begin(struct memory_facts *memory);
void memory_facts_add(struct memory_facts *memory, const struct tree_row *tree, const struct moment *moment);
/* After the last sample: the figure has the mean and the maximum of all samples that count. */
void memory_facts_finish(struct memory_facts *memory, struct figure *ret_figure);
