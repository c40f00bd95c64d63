/* Whether the memory of a job will reach its limit soon. See memory_forecast.h. */
#include "job/signal_at/memory_forecast.h"

void memory_forecast_add(struct memory_forecast *forecast, int64_t now_ns, double mib)
{
	size_t last = (forecast->count + FORECAST_POINTS - 1) % FORECAST_POINTS;
	size_t before = (forecast->count + FORECAST_POINTS - 2) % FORECAST_POINTS;

	/* The last point is the present one. It stays if it is far enough from the one before it. */
	if (forecast->count < 2 ||
	    forecast->points[last].ns - forecast->points[before].ns >= FORECAST_APART_NS)
		last = forecast->count++ % FORECAST_POINTS;
	forecast->points[last].ns = now_ns;
	forecast->points[last].mib = mib;
}

/* Returns MiB a second since the newest point that is at least `age_ns` old, or the oldest one; 0 without one that is old enough. */
static double growth_since(const struct memory_forecast *forecast, int64_t age_ns)
{
	size_t kept = forecast->count < FORECAST_POINTS ? forecast->count : FORECAST_POINTS;
	size_t last = (forecast->count - 1) % FORECAST_POINTS, at = last;
	int64_t now_ns = forecast->points[last].ns, past_ns = 0;

	for (size_t i = 1; i < kept && past_ns < age_ns; i++) {
		at = (forecast->count - 1 - i) % FORECAST_POINTS;
		past_ns = now_ns - forecast->points[at].ns;
	}
	if (past_ns < FORECAST_SHORT_NS)
		return 0;
	return (forecast->points[last].mib - forecast->points[at].mib) / ns_to_secs(past_ns);
}

bool memory_forecast_is_due(const struct memory_forecast *forecast, double limit_mib, double share,
			    double *ret_secs)
{
	double mib, growth, slower;

	if (!forecast->count || limit_mib <= 0)
		return false;
	mib = forecast->points[(forecast->count - 1) % FORECAST_POINTS].mib;
	*ret_secs = -1;
	if (mib >= share * limit_mib)
		return true;
	if (mib < FORECAST_FROM * share * limit_mib)
		return false;
	growth = growth_since(forecast, FORECAST_SHORT_NS);
	slower = growth_since(forecast, FORECAST_LONG_NS);
	if (slower < growth)
		growth = slower;
	if (growth <= 0 || limit_mib - mib > growth * FORECAST_WARNS_SECS)
		return false;
	*ret_secs = (limit_mib - mib) / growth;
	return true;
}
