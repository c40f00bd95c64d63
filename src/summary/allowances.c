/* Follows limits and sizes through a run. See allowances.h. */
#include "summary/allowances.h"

#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "metric/typed_rows.h"
#include "table/units.h"

/* The memory of a virtual machine moves by some pages. A smaller difference does not count. */
static const double NOISE_SHARE = 0.005;

enum { WORDS_MOST = 4, CHANGES_AT_ONCE = 5 };

/* No program runs with 0 cores. */
static double cores_or_nan(double value)
{
	return value > 0 ? value : (double)NAN;
}

static double real_or_nan(double value)
{
	return real_absent(value) ? (double)NAN : value;
}

/* ---- adding ------------------------------------------------------------------------------------------- */

static bool is_limit_change(double left, double right)
{
	if (isnan(left) || isnan(right))
		return isnan(left) != isnan(right);
	return fabs(left - right) > NOISE_SHARE * fmax(left, right);
}

static bool is_other_allowance(const struct allowance *left, const struct allowance *right)
{
	return is_limit_change(left->memory_limit_mib, right->memory_limit_mib) ||
	       is_limit_change(left->memory_total_mib, right->memory_total_mib) ||
	       is_limit_change(left->cpu_limit_cores, right->cpu_limit_cores) ||
	       is_limit_change(left->cpus, right->cpus) ||
	       is_limit_change(left->swap_total_mib, right->swap_total_mib);
}

/* A sample of a job that ended at once has no limits, and later ones may leave out what stays the same. */
static bool tells_limits(const struct limits_row *limits)
{
	return limits && (!count_absent(limits->cpuset_cores) || !real_absent(limits->memory_limit_mib) ||
			  !real_absent(limits->cpu_limit_cores));
}

static struct allowance allowance_of(const struct frame *frame, const struct allowance *before)
{
	const struct limits_row *limits = FIRST(frame, limits);
	const struct memory_row *memory = FIRST(frame, memory);
	struct allowance now = *before;

	if (tells_limits(limits)) {
		now.memory_limit_mib = real_or_nan(limits->memory_limit_mib);
		now.cpu_limit_cores = cores_or_nan(limits->cpu_limit_cores);
		now.cpus = count_absent(limits->cpuset_cores) ? (double)NAN : (double)limits->cpuset_cores;
	}
	if (memory && memory->total_mib > 0)
		now.memory_total_mib = memory->total_mib;
	if (memory && memory->swap_total_mib >= 0)
		now.swap_total_mib = memory->swap_total_mib;
	return now;
}

/* A later sample tells what the first ones lacked: it held from the beginning. */
static void complete_first(struct allowances *allowances, const struct allowance *now, bool tells)
{
	struct allowance *first = &allowances->list[0];

	if (allowances->count != 1)
		return;
	if (isnan(first->memory_total_mib))
		first->memory_total_mib = now->memory_total_mib;
	if (isnan(first->swap_total_mib))
		first->swap_total_mib = now->swap_total_mib;
	if (!tells || allowances->limits_known)
		return;
	first->memory_limit_mib = now->memory_limit_mib;
	first->cpu_limit_cores = now->cpu_limit_cores;
	first->cpus = now->cpus;
}

void allowances_add(struct allowances *allowances, const struct frame *frame, double elapsed_secs,
		    double length_secs)
{
	static const struct allowance UNKNOWN = {0, NAN, NAN, NAN, NAN, NAN};
	bool tells = tells_limits(FIRST(frame, limits));
	struct allowance *last = allowances->count ? &allowances->list[allowances->count - 1] : NULL,
			 now = allowance_of(frame, last ? last : &UNKNOWN);

	now.since_secs = elapsed_secs;
	if (!last) {
		allowances->first_length_secs = length_secs;
		allowances->first_tells = tells;
	}
	complete_first(allowances, &now, tells);
	allowances->limits_known |= tells;
	if (!last || is_other_allowance(last, &now)) {
		if (allowances->count < ALLOWANCES_MOST)
			allowances->count++;
		allowances->list[allowances->count - 1] = now;
	}
	if (length_secs > 0)
		allowances->secs[allowances->count - 1] += length_secs;
}

/* A machine is not held to the limits of the recorder's own control group. Fewer CPUs than at the start are offline. */
static void forget_limits(struct allowances *allowances, const struct run_start_row *start)
{
	bool in_cpuset = !start || allowances->list[0].cpus < (double)start->cpu_count;

	for (size_t i = 0; i < allowances->count; i++) {
		struct allowance *one = &allowances->list[i];

		one->memory_limit_mib = one->cpu_limit_cores = NAN;
		if (in_cpuset)
			one->cpus = NAN;
	}
}

/* The limits that had changed by the first sample. Its time counts with the higher number of cores, so that no work is beyond a limit. */
static void begin_with_start(struct allowances *allowances, const struct run_start_row *start)
{
	struct allowance first = allowances->list[0];
	bool fell;

	first.since_secs = 0;
	if (start->memory_limit_mib > 0)
		first.memory_limit_mib = start->memory_limit_mib;
	if (start->cpu_limit_cores > 0)
		first.cpu_limit_cores = start->cpu_limit_cores;
	if (!allowances->first_tells || allowances->count == ALLOWANCES_MOST ||
	    !is_other_allowance(&first, &allowances->list[0]))
		return;
	fell = first.cpu_limit_cores > allowances->list[0].cpu_limit_cores;
	memmove(&allowances->list[1], allowances->list, allowances->count * sizeof(first));
	memmove(&allowances->secs[1], allowances->secs, allowances->count * sizeof(allowances->secs[0]));
	allowances->count++;
	allowances->list[0] = first;
	allowances->secs[0] = fell ? allowances->first_length_secs : 0;
	allowances->secs[1] -= allowances->secs[0];
}

void allowances_finish(struct allowances *allowances, const struct run_start_row *start, bool of_a_job)
{
	if (!allowances->count) {
		allowances->list[0] = (struct allowance){0, NAN, NAN, NAN, NAN, NAN};
		allowances->count = 1;
	}
	for (size_t i = 0; start && i < allowances->count; i++) {
		struct allowance *one = &allowances->list[i];

		if (isnan(one->memory_total_mib))
			one->memory_total_mib = real_or_nan(start->memory_total_mib);
		if (allowances->limits_known)
			continue;
		one->memory_limit_mib = real_or_nan(start->memory_limit_mib);
		one->cpu_limit_cores = cores_or_nan(start->cpu_limit_cores);
		if (!count_absent(start->cpuset_cores))
			one->cpus = (double)start->cpuset_cores;
	}
	if (start)
		begin_with_start(allowances, start);
	if (!of_a_job)
		forget_limits(allowances, start);
}

/* ---- what binds --------------------------------------------------------------------------------------- */

static struct binding memory_of(const struct allowance *allowance)
{
	struct binding binding = {.value = NAN};

	if (!isnan(allowance->memory_total_mib))
		binding = (struct binding){.value = allowance->memory_total_mib, .source = "machine"};
	if (!isnan(allowance->memory_limit_mib) && !(allowance->memory_limit_mib >= binding.value))
		binding = (struct binding){.value = allowance->memory_limit_mib, .source = "cgroup limit"};
	return binding;
}

static const struct allowance *find_allowance(const struct allowances *allowances, double elapsed_secs,
					      double mib)
{
	const struct allowance *found = &allowances->list[0];

	for (size_t i = 1; i < allowances->count; i++) {
		const struct allowance *one = &allowances->list[i];
		double before = memory_of(found).value;

		if (real_absent(elapsed_secs) ? !(memory_of(one).value <= before)
					      : one->since_secs <= elapsed_secs ||
							(mib > before && !(memory_of(one).value <= before)))
			found = one;
	}
	return found;
}

struct binding allowances_memory(const struct allowances *allowances, double elapsed_secs, double mib)
{
	return memory_of(find_allowance(allowances, elapsed_secs, mib));
}

double allowances_limit_mib(const struct allowances *allowances, double elapsed_secs, double mib)
{
	return find_allowance(allowances, elapsed_secs, mib)->memory_limit_mib;
}

double allowances_highest_limit_mib(const struct allowances *allowances)
{
	double highest = NAN;

	for (size_t i = 0; i < allowances->count; i++) {
		/* Without a limit for a while, none held the job back. */
		if (isnan(allowances->list[i].memory_limit_mib))
			return NAN;
		highest = fmax(highest, allowances->list[i].memory_limit_mib);
	}
	return highest;
}

/* More CPUs than at the start have come online since. */
static struct binding cores_of(const struct allowance *allowance, double core_count)
{
	struct binding binding = {.value = NAN};

	if (!isnan(core_count))
		binding = (struct binding){.value = core_count, .source = "machine"};
	if (allowance->cpus > core_count)
		binding.value = allowance->cpus;
	else if (!isnan(allowance->cpus) && !(allowance->cpus >= binding.value))
		binding = (struct binding){.value = allowance->cpus, .source = "cpuset"};
	if (!isnan(allowance->cpu_limit_cores) && !(allowance->cpu_limit_cores >= binding.value))
		binding = (struct binding){.value = allowance->cpu_limit_cores, .source = "cgroup limit"};
	return binding;
}

struct binding allowances_cores(const struct allowances *allowances, double core_count)
{
	struct binding lowest = {.value = NAN}, one;
	double core_secs = 0, secs = 0;
	bool varies = false;

	for (size_t i = 0; i < allowances->count; i++) {
		one = cores_of(&allowances->list[i], core_count);
		varies |= i && is_limit_change(one.value, lowest.value);
		core_secs += one.value * allowances->secs[i];
		secs += allowances->secs[i];
		if (!(one.value >= lowest.value))
			lowest = one;
	}
	lowest.is_mean = varies && core_secs > 0;
	if (lowest.is_mean)
		lowest.value = core_secs / secs;
	return lowest;
}

/* ---- changes ------------------------------------------------------------------------------------------ */

struct change {
	const char *name, *words;
	double elapsed_secs, from, to; /* NaN: no limit */
	bool is_memory, is_limit;
};

/* The changes between one allowance and the one before it. */
static size_t changes_at(const struct allowances *allowances, size_t place,
			 struct change ret_changes[static CHANGES_AT_ONCE])
{
	const struct allowance *before = &allowances->list[place - 1], *now = &allowances->list[place];
	const struct change all[] = {
		{"memory_limit_mib", "memory limit", now->since_secs, before->memory_limit_mib,
		 now->memory_limit_mib, true, true},
		{"memory_total_mib", "memory of the machine", now->since_secs, before->memory_total_mib,
		 now->memory_total_mib, true, false},
		{"cpu_limit_cores", "CPU limit", now->since_secs, before->cpu_limit_cores,
		 now->cpu_limit_cores, false, true},
		{"cpuset_cores", "CPUs that it may use", now->since_secs, before->cpus, now->cpus, false,
		 false},
		{"swap_total_mib", "swap", now->since_secs, before->swap_total_mib, now->swap_total_mib, true,
		 false},
	};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (is_limit_change(all[i].from, all[i].to) &&
		    (all[i].is_limit || (!isnan(all[i].from) && !isnan(all[i].to))))
			ret_changes[count++] = all[i];
	return count;
}

static void add_allowed(struct buffer *out, const struct change *change, double value)
{
	if (change->is_memory)
		add_size(out, value * 1048576, RT_SIZE_AUTO);
	else
		buffer_printf(out, "%.4g", value);
}

/* A machine without swap has 0 of it. */
static bool is_none(const struct change *change, double value)
{
	return isnan(value) || (change->is_memory && !change->is_limit && value <= 0);
}

static void add_limit_change(struct buffer *out, const struct change *change)
{
	buffer_add_text(out, change->words);
	if (is_none(change, change->to)) {
		buffer_add_text(out, " of ");
		add_allowed(out, change, change->from);
		buffer_add_text(out, change->is_limit ? " lifted" : " removed");
	} else if (is_none(change, change->from)) {
		buffer_add_text(out, " of ");
		add_allowed(out, change, change->to);
		buffer_add_text(out, change->is_limit ? " set" : " added");
	} else {
		buffer_add_text(out, change->to > change->from ? " raised from " : " lowered from ");
		add_allowed(out, change, change->from);
		buffer_add_text(out, " to ");
		add_allowed(out, change, change->to);
	}
	buffer_add_text(out, " after ");
	add_duration(out, change->elapsed_secs);
}

void allowances_words(const struct allowances *allowances, struct buffer *out)
{
	struct change changes[CHANGES_AT_ONCE];
	size_t told = 0, left = 0;

	for (size_t i = 1; i < allowances->count; i++) {
		size_t count = changes_at(allowances, i, changes);

		for (size_t j = 0; j < count; j++) {
			if (told == WORDS_MOST) {
				left++;
				continue;
			}
			buffer_add_text(out, told++ ? "; " : "");
			add_limit_change(out, &changes[j]);
		}
	}
	if (left)
		buffer_printf(out, "; and %zu more changes", left);
}

void allowances_json(const struct allowances *allowances, struct buffer *out)
{
	struct change changes[CHANGES_AT_ONCE];
	bool any = false;

	buffer_add_char(out, '[');
	for (size_t i = 1; i < allowances->count; i++) {
		size_t count = changes_at(allowances, i, changes);

		for (size_t j = 0; j < count; j++) {
			buffer_printf(out, "%s{\"elapsed_secs\":", any ? "," : "");
			buffer_add_real(out, changes[j].elapsed_secs, 6);
			buffer_printf(out, ",\"what\":\"%s\",\"from\":", changes[j].name);
			buffer_add_real(out, changes[j].from, 3);
			buffer_add_text(out, ",\"to\":");
			buffer_add_real(out, changes[j].to, 3);
			buffer_add_char(out, '}');
			any = true;
		}
	}
	buffer_add_char(out, ']');
}
