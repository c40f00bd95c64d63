/* Makes the surveys: asks all vendors, adds the members' use, resolves process ids, and sums over time. */
#pragma once

#include "gpu/survey.h"
#include "kernel/root.h"

struct surveyor;

/* `root` must outlive it. */
int surveyor_new(struct root *root, const struct gpu_setup *setup, struct surveyor **ret_surveyor);
void surveyor_free(struct surveyor *surveyor);

/*
 * Makes a survey, valid until the next call. -ENODEV: no vendor has devices here, and none will. A vendor that
 * fails is tried again later, after longer and longer pauses; until then its devices have no readings, and
 * ->error and ->problem (in words) say why. A vendor without devices so far is asked again as rarely, without
 * an error.
 */
int surveyor_pass(struct surveyor *surveyor, const struct gpu_request *request,
		  const struct gpu_survey **ret_survey);
