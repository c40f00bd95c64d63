/* Both headers as C++17 with all warnings. Compiling is the test; the linker checks that the symbols are C's. */
#include "resource_tracker.h"
#include "resource_tracker_analysis.h"

int main()
{
	rt_value value{};
	rt_stat_spec spec{"timestamp", "max", nullptr, RT_NOT_ROUNDED};
	rt_slice slice{true, false, -1, 0, 1};
	rt_problem problem{};
	rt_cell cell{};

	value.type = RT_REAL;
	value.real = slice.step > 0 ? 1.5 : 0.5;
	cell.type = RT_CELL_REAL;
	cell.real = value.real;
	return rt_version()[0] >= '0' && spec.decimals == RT_NOT_ROUNDED && problem.text[0] == '\0' &&
			       cell.real > 1
		       ? 0
		       : 1;
}
