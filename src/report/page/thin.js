/* Draws fewer points than samples and still shows every extreme. */

/*
 * Picks the samples of [first, end) to draw. Each bucket contributes two points, so that for every series its
 * smallest and its largest value are drawn, in their order. If there are no more samples than points, all are drawn.
 * A bucket that has both values and gaps shows the values.
 */
const thin = (x, columns, first, end, buckets) => {
	const count = end - first;

	if (count <= 2 * buckets) {
		const present = (column) => Array.from(column.subarray(first, end), (value) => Number.isNaN(value) ? null : value);
		return [Array.from(x.subarray(first, end)), ...columns.map(present)];
	}
	const size = count / buckets;
	const bounds = Array.from({length: buckets + 1}, (_, i) => first + Math.round(i * size));
	const times = new Array(2 * buckets);

	for (let i = 0; i < buckets; i++) {
		times[2 * i] = x[bounds[i]];
		times[2 * i + 1] = x[Math.max(bounds[i], bounds[i + 1] - 1)];
	}
	const extremes = (column) => {
		const drawn = new Array(2 * buckets);

		for (let i = 0; i < buckets; i++) {
			let least = -1, most = -1;

			for (let at = bounds[i]; at < bounds[i + 1]; at++) {
				const value = column[at];
				if (value !== value)
					continue;
				if (least < 0 || value < column[least])
					least = at;
				if (most < 0 || value > column[most])
					most = at;
			}
			drawn[2 * i] = least < 0 ? null : column[Math.min(least, most)];
			drawn[2 * i + 1] = least < 0 ? null : column[Math.max(least, most)];
		}
		return drawn;
	};
	return [times, ...columns.map(extremes)];
};

/* Returns the smallest and largest value of samples [first, end); [NaN, NaN] without any. */
const extent = (column, first, end) => {
	let least = NaN, most = NaN;

	for (let at = first; at < end; at++) {
		const value = column[at];
		if (!(value >= least))
			least = value === value ? value : least;
		if (!(value <= most))
			most = value === value ? value : most;
	}
	return [least, most];
};
