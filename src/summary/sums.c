/* Adds up samples. See sums.h. */
#include "summary/sums.h"

void figure_add(struct figure *figure, const struct moment *moment, double value)
{
	if (isnan(value)) {
		figure->has_gap |= !isnan(figure->most);
		return;
	}
	if (moment->length_secs > 0) {
		figure->weighted += value * moment->length_secs;
		figure->weights += moment->length_secs;
	}
	if (isnan(figure->most) || value > figure->most) {
		figure->most = value;
		figure->most_elapsed_secs = moment->elapsed_secs;
	}
}

void total_add(struct total *total, double change)
{
	if (isnan(change)) {
		total->has_gap |= total->present;
		return;
	}
	total->sum += change;
	total->present = true;
}
