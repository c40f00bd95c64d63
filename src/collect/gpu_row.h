/* What a survey says of a device, as the row of the device. */
#pragma once

#include "collect/gpu_account.h"
#include "metric/frame.h"

/* A number in the unit of a metric, or the reason of its absence. */
double gpu_real(struct gpu_number number, double scale);
int64_t gpu_count(struct gpu_number number, double scale);

void gpu_fill_identity(struct frame *frame, struct gpu_row *row, const struct gpu_survey *survey,
		       int64_t index);
void gpu_fill_readings(struct frame *frame, struct gpu_row *row, const struct gpu_device *device,
		       const struct device_account *account);
void gpu_fill_tree_part(struct gpu_row *row, const struct device_account *account, bool tracked);
/* A row for each member of the tree on the device. */
void gpu_fill_processes(struct frame *frame, struct gpu_row *row, const struct timed_survey *now,
			const struct timed_survey *before, const struct gpu_members *members, int64_t device);
