/*
 * Both public headers as C++17 with all warnings: compiling is the test. The program links both archives, whose symbols are C's and
 * do not clash.
 */
#include <cstring>

#include "resource_tracker.h"
#include "resource_tracker_analysis.h"

int main()
{
	rt_value value{};
	rt_stat_spec spec{"timestamp", "max", nullptr, RT_STAT_NOT_ROUNDED};
	rt_problem problem{};
	rt_record *record = nullptr;
	const char *path = "/nonexistent";
	int error = rt_record_open(&path, 1, nullptr, 0, &record, &problem);

	value.type = RT_TYPE_REAL;
	value.real = 1.5;
	rt_free(nullptr);
	return rt_version()[0] >= '0' && spec.decimals == RT_STAT_NOT_ROUNDED && error < 0 &&
			       problem.text[0] != '\0' && value.real > 1 &&
			       std::strlen(rt_reason(value.reason)) > 0
		       ? 0
		       : 1;
}
