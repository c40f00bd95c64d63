/* How much CPU time an unread process probably used. See program_likely.h. */
#include "job/programs/program_likely.h"

#include "base/cleanup.h"
#include "base/min_max.h"
#include "base/runs_once.h"

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
	double part = had_children ? LIKELY_PART_WITH_CHILDREN : 1;

	if (known->life_ns > 0)
		part = (double)known->cpu_ns / (double)known->life_ns;
	return LIKELY_LEAST_NS + part * (double)max_i64(0, lifetime_ns);
}

SELDOM void program_note_named(struct program *program, size_t parent, int64_t life_ns)
{
	struct named_ends *named = &program->named;

	if (parent == NO_PROGRAM || life_ns <= 0)
		return;
	if (named->parent != parent)
		*named = (struct named_ends){.parent = parent};
	named->count++;
	named->life_ns += life_ns;
}

static SELDOM int64_t count_alike(const struct program *program, size_t parent, int64_t life_ns)
{
	const struct named_ends *named = &program->named;
	int64_t mean_ns = named->count ? named->life_ns / named->count : 0;

	return named->parent == parent && mean_ns / ALIKE_TIMES_MOST <= life_ns &&
			       life_ns / ALIKE_TIMES_MOST <= mean_ns
		       ? named->count
		       : 0;
}

SELDOM void program_miss(struct programs *programs, struct program *program, size_t parent, int64_t life_ns,
			 int64_t unseen_ns, bool had_children)
{
	double alike = 0;

	for (size_t i = 0; i < programs->count && parent != NO_PROGRAM; i++)
		alike += (double)count_alike(&programs->at[i], parent, life_ns);
	if (alike <= 0)
		program->missed_ns += program_likely_ns(programs, program, unseen_ns, had_children);
	for (size_t i = 0; alike > 0 && i < programs->count; i++) {
		struct program *child = &programs->at[i];

		child->missed_ns += program_likely_ns(programs, child, unseen_ns, had_children) *
				    (double)count_alike(child, parent, life_ns) / alike;
	}
}
