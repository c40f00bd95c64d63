/* How much CPU time an unread process probably used; see program_likely.h. */
#include "process/program_likely.h"

#include "base/cleanup.h"
#include "base/min_max.h"

/* A process with children mostly waits for them. */
#define PART_WITH_CHILDREN 0.1
#define LEAST_NS 1e3

void program_note_known(struct programs *programs, struct program *program, int64_t cpu_ns, int64_t life_ns,
			bool had_children)
{
	struct known_use *uses[] = {&program->known, &programs->known[had_children]};

	for (size_t i = 0; i < ARRAY_SIZE(uses) && life_ns > 0; i++) {
		uses[i]->cpu_ns += max_i64(0, cpu_ns);
		uses[i]->life_ns += life_ns;
	}
}

double program_likely_ns(const struct programs *programs, const struct program *program, int64_t lifetime_ns,
			 bool had_children)
{
	const struct known_use *known =
		program->known.life_ns > 0 ? &program->known : &programs->known[had_children];
	double part = had_children ? PART_WITH_CHILDREN : 1;

	if (known->life_ns > 0)
		part = (double)known->cpu_ns / (double)known->life_ns;
	return LEAST_NS + part * (double)max_i64(0, lifetime_ns);
}
