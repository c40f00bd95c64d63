/* GPUs: the helper kind that makes surveys. See gpu/surveyor.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/surveyor.h"
#include "helper/helper_kind.h"
#include "kernel/root.h"

#define LONGEST_PERIOD_NS (1 * NSEC_PER_SEC)
#define SHORTEST_PERIOD_NS (100 * NSEC_PER_MSEC) /* drivers renew their readings no faster */
#define LEAD_NS (5 * NSEC_PER_MSEC)
/* A job may end before its first sample is due, so the device is asked more often at the beginning. */
#define EARLY_NS (2 * NSEC_PER_SEC)
#define EARLY_PERIOD_NS (250 * NSEC_PER_MSEC)
/* Initialising several devices without persistence mode takes seconds each. */
#define PASS_LIMIT_NS (60 * NSEC_PER_SEC)

struct gpu_work {
	struct root root;
	struct surveyor *surveyor;
	int64_t interval_ns;
	int64_t started_ns; /* of the first pass */
};

static int gpu_open(const void *setup_bytes, void **ret_state)
{
	const struct gpu_setup *setup = setup_bytes;
	struct gpu_work *work = calloc(1, sizeof *work);
	int error;

	if (!work)
		return -ENOMEM;
	error = root_open(&work->root, setup->root_dir, NULL);
	if (error < 0) {
		free(work);
		return error;
	}
	error = surveyor_new(&work->root, setup, &work->surveyor);
	if (error < 0) {
		root_close(&work->root);
		free(work);
		return error;
	}
	work->interval_ns = setup->interval_ns > 0 ? setup->interval_ns : NSEC_PER_SEC;
	*ret_state = work;
	return 0;
}

/*
 * The recorder samples at sampled_ns + n intervals. Ask shortly before that, and so often that no change is
 * missed.
 */
static int64_t next_pass_ns(const struct gpu_work *work, int64_t sampled_ns, int64_t began_ns, int64_t now_ns)
{
	int64_t period_ns = work->interval_ns, lead_ns = 2 * (now_ns - began_ns) + LEAD_NS;
	int64_t sample_ns, earliest_ns;

	if (period_ns > LONGEST_PERIOD_NS)
		period_ns = LONGEST_PERIOD_NS;
	if (now_ns - work->started_ns < EARLY_NS && period_ns > EARLY_PERIOD_NS)
		period_ns = EARLY_PERIOD_NS;
	if (period_ns < SHORTEST_PERIOD_NS)
		return began_ns + SHORTEST_PERIOD_NS > now_ns ? began_ns + SHORTEST_PERIOD_NS
							      : now_ns + LEAD_NS;
	if (lead_ns > period_ns / 2)
		lead_ns = period_ns / 2;
	if (sampled_ns <= 0 || sampled_ns > now_ns)
		return now_ns + period_ns / 4;
	sample_ns =
		sampled_ns + ((now_ns - sampled_ns) / work->interval_ns + 1) * work->interval_ns - lead_ns;
	/*
	 * The last pass before the sample is at sample_ns, the others whole periods earlier, but not at once.
	 */
	earliest_ns = now_ns + period_ns / 4;
	if (sample_ns > earliest_ns)
		return sample_ns - (sample_ns - earliest_ns) / period_ns * period_ns;
	return sample_ns + period_ns;
}

static ssize_t gpu_pass(void *state, const void *request_bytes, size_t request_length, void *answer,
			int64_t *ret_next_ns)
{
	struct gpu_work *work = state;
	const struct gpu_request *request = request_bytes;
	const struct gpu_survey *survey;
	int64_t began_ns = root_monotonic_ns(&work->root);
	int error;

	if (request_length < offsetof(struct gpu_request, members) || request->member_count < 0 ||
	    request->member_count > GPU_MEMBERS_MAX || request_length < gpu_request_bytes(request))
		request = NULL;
	if (!work->started_ns)
		work->started_ns = began_ns;
	error = surveyor_pass(work->surveyor, request, &survey);
	if (error == -ENODEV) {
		/* An empty survey tells the recorder that there are no devices. */
		memset(answer, 0, offsetof(struct gpu_survey, devices));
		((struct gpu_survey *)answer)->at_ns = began_ns;
		*ret_next_ns = INT64_MAX;
		return offsetof(struct gpu_survey, devices);
	}
	*ret_next_ns = next_pass_ns(work, request ? request->sampled_ns : 0, began_ns,
				    root_monotonic_ns(&work->root));
	return error < 0 ? error : (ssize_t)gpu_survey_pack(survey, answer);
}

const struct helper_kind GPU_HELPER = {
	.name = "gpu",
	.setup_bytes = sizeof(struct gpu_setup),
	.request_bytes = sizeof(struct gpu_request),
	.answer_bytes = sizeof(struct gpu_survey),
	.pass_limit_ns = PASS_LIMIT_NS,
	.open = gpu_open,
	.pass = gpu_pass,
};
