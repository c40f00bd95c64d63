/* Turns a device of a survey into a row. */
#pragma once

#include "collect/gpu_account.h"
#include "metric/frame.h"

struct gpu_row;

/* Returns a number in the unit of a metric, or the reason why it is absent. */
double gpu_real(struct gpu_number number, double scale);
int64_t gpu_count(struct gpu_number number, double scale);

void gpu_fill_identity(struct frame *frame, struct gpu_row *row, const struct gpu_survey *survey,
		       int64_t index);
void gpu_fill_readings(struct frame *frame, struct gpu_row *row, const struct gpu_device *device,
		       const struct device_account *account);
void gpu_fill_tree_part(struct gpu_row *row, const struct device_account *account, bool tracked);
/* Adds a row for a member of the tree on the device. `rate` is the part of the device that it used. */
void gpu_fill_process(struct frame *frame, struct gpu_row *row, const struct gpu_process *process,
		      struct gpu_number rate);
