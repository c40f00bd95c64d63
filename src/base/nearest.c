/* Distances between words. See nearest.h. */
#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = 60, LETTERS_PER_EDIT = 3, SHORTEST_BEGINNING = 2 };

static unsigned least_distance(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned edit_distance(const char *a, const char *b)
{
	size_t a_length = strnlen(a, WORD_MAX), b_length = strnlen(b, WORD_MAX);
	unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = (unsigned)i;
	for (size_t j = 0; j <= b_length; j++)
		cost[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			unsigned change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			cost[i][j] =
				least_distance(change, least_distance(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least_distance(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[a_length][b_length];
}

bool nearest_consider(struct nearest *nearest, const char *given, const char *candidate)
{
	size_t length = strlen(given);
	unsigned edits = edit_distance(given, candidate);
	bool is_beginning = length >= SHORTEST_BEGINNING && strncmp(candidate, given, length) == 0;

	/* "csv" means csv-layout, although half of that is missing. */
	if (is_beginning)
		edits = candidate[length] ? 1 : 0;
	/* Two typos in a short word leave nothing to match. */
	if (!is_beginning && (length < LETTERS_PER_EDIT || edits > (length + 1) / LETTERS_PER_EDIT))
		return false;
	if (nearest->word && edits >= nearest->edits)
		return false;
	*nearest = (struct nearest){candidate, edits};
	return true;
}
