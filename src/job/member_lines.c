/* Why the figures of a member are what they are. See member_lines.h. */
#include "job/member_lines.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/debug.h"
#include "job/memory/memory_schedule.h"
#include "job/memory/memory_tuning.h"
#include "job/memory/process_memory.h"
#include "job/programs/programs.h"
#include "job/tree/process_tree.h"

enum { WORDS_BYTES = 120 };

static int64_t cpu_of(const struct usages *usages)
{
	return usages->of[USAGE_CPU_NS];
}

static const char *cpu_words(const struct member *member)
{
	return member->is_zombie     ? "ended, not waited for yet"
	       : member->is_behind   ? "ran, read in a later pass: many members ran"
	       : member->quiet_ticks ? "has not run since it was read"
				     : "ran and was read";
}

static const struct memory_family *family_of_member(const struct process_memory *memory,
						    const struct member *member)
{
	for (size_t i = 0; i < memory->families.count; i++)
		if (memory->families.at[i].id == member->memory.family && memory->families.at[i].count)
			return &memory->families.at[i];
	return NULL;
}

/* The source of a member's memory. */
static const char *source_words(const struct process_tree *tree, const struct memory_family *family,
				const struct member *member, int64_t now_ns)
{
	if (member->is_zombie || member->memory.resident_pages <= 0)
		return "none, it has ended";
	if (!memory_is_counted(tree, member) || !family)
		return "none, another shares its memory";
	if (member_is_read(family, member, now_ns))
		return member->memory.reading->kind == READING_ROLLUP ? "smaps_rollup" : "sampled pages";
	if (family->count <= 1 || !member->memory.is_forked)
		return "resident set alone";
	return family->read ? "page faults, as those of siblings that were read" : "page faults alone";
}

static void choice_words(const struct member *member, int64_t now_ns, char words[WORDS_BYTES])
{
	static const char *const WORDS[] = {
		[READING_OFF] = "readings are off",
		[READING_STILL_RIGHT] = "its reading is still right",
		[READING_LIKE_SIBLINGS] = "enough siblings were read",
		[READING_REFUSED] = "the kernel refuses a reading",
		[READING_LATE] = "no time left for a reading",
		[READING_GIVES_BACK] = "frees memory now, so its earlier reading stays",
		[READING_TAKEN] = "read now",
	};
	const struct member_memory *own = &member->memory;
	int64_t age_ns = own->reading ? now_ns - own->reading->taken_ns : 0;

	snprintf(words, WORDS_BYTES,
		 own->choice == READING_LATE || own->choice == READING_TAKEN ? "%s: %.1f MiB in doubt"
		 : own->choice == READING_STILL_RIGHT                        ? "%s after %.1f s"
									     : "%s",
		 WORDS[own->choice],
		 own->choice == READING_STILL_RIGHT ? ns_to_secs(age_ns) : (double)own->uncertain_kib / 1024);
}

static void say_member(const struct process_tree *tree, const struct process_memory *memory,
		       const struct member *member, int64_t now_ns)
{
	const struct memory_family *family = family_of_member(memory, member);
	const struct program *program = tree->programs ? programs_of(tree->programs, member->pid) : NULL;
	const struct account *account = &member->cpu.account;
	const struct usages all = account_total(account);
	int64_t total_ns = cpu_of(&all), own_ns = cpu_of(&account->own), waited_ns = cpu_of(&account->waited),
		settled_ns = cpu_of(&account->settled), before_ns = cpu_of(&account->before);
	char why[WORDS_BYTES] = "";

	if (family && memory_is_counted(tree, member))
		choice_words(member, now_ns, why);
	debug_say_member("%d %s: cpu %.3f s = %.3f own + %.3f waited for + %.3f carried + %.3f settled - "
			 "%.3f before (%s); "
			 "memory %.1f MiB of %.1f resident, by %s (%s); family of %zu, smaps_rollup takes "
			 "%.2f ms of %.2f at most",
			 (int)member->pid, program ? program->name : member->program.comm,
			 ns_to_secs(total_ns), ns_to_secs(own_ns), ns_to_secs(waited_ns),
			 ns_to_secs(total_ns + before_ns - own_ns - waited_ns - settled_ns),
			 ns_to_secs(settled_ns), ns_to_secs(before_ns), cpu_words(member),
			 member->memory.share / 1024,
			 (double)memory_pages_to_kib(tree, member->memory.resident_pages) / 1024,
			 source_words(tree, family, member, now_ns), why, family ? family->count : 0,
			 member_rollup_ns(tree, member) / 1e6,
			 (member->memory.rollup_ns < 0 ? HOLD_MOST_NS : MEASURED_MOST_NS) / 1e6);
}

void member_lines_say(const struct process_tree *tree, const struct process_memory *memory)
{
	int64_t now_ns = root_monotonic_ns(tree->root);

	for (size_t i = 0; i < tree->count; i++)
		say_member(tree, memory, &tree->members[i], now_ns);
}
