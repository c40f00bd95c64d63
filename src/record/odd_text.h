/* Text that spreadsheets and Windows made of a file: names the cause. */
#pragma once

#include "base/scan.h"
#include "record/problem.h"

/* `start` is the beginning of the file, at least its first line. Returns 0 if it may be read, else -EBADMSG with the cause. */
int refuse_odd_text(struct scan start, const char *path, struct rt_problem *problem);
