/* Draws fewer points than samples: the mean of each short stretch of time, and a band from its smallest to its largest value. */

/* A stretch takes this many pixels: fewer would make the line of means as ragged as the samples. */
const STRETCH_PIXELS = 3;

/* Returns samples [first, end) as they are, with a gap wherever samples are missing. */
const asRecorded = (run, columns, first, end) => {
	const x = [], means = columns.map(() => []);

	for (let i = first; i < end; i++) {
		if (i > first && run.missing(i)) {
			x.push((run.x[i - 1] + run.x[i]) / 2);
			means.forEach((mean) => mean.push(null));
		}
		x.push(run.x[i]);
		for (let c = 0; c < columns.length; c++) {
			const value = columns[c][i];
			means[c].push(value === value ? value : null);
		}
	}
	return {x, means, bands: null};
};

/* Returns the first sample of each stretch of equal length that has samples, and the end. */
const stretches = (run, first, end, count) => {
	const bounds = [first], begin = run.x[first], size = (run.x[end - 1] - begin) / count || 1;

	for (let i = 1, at = first; i < count; i++) {
		while (at < end && run.x[at] < begin + i * size)
			at++;
		if (at > bounds[bounds.length - 1] && at < end)
			bounds.push(at);
	}
	bounds.push(end);
	return bounds;
};

/*
 * Returns {x, means, bands} for samples [first, end) on so many pixels: a mean for each stretch and column, null for a
 * gap, and bands [low, high] for each column. If there are hardly more samples than pixels, the means are the samples,
 * and bands is null.
 */
const thin = (run, columns, first, end, pixels) => {
	if (end - first <= 1.5 * pixels)
		return asRecorded(run, columns, first, end);
	const bounds = stretches(run, first, end, Math.max(20, Math.floor(pixels / STRETCH_PIXELS)));
	const x = [], means = columns.map(() => []), bands = columns.map(() => [[], []]);

	for (let i = 0; i + 1 < bounds.length; i++) {
		const from = bounds[i], to = bounds[i + 1];

		if (i && run.missing(from)) {
			x.push((run.x[from - 1] + run.x[from]) / 2);
			means.forEach((mean, c) => [mean, ...bands[c]].forEach((list) => list.push(null)));
		}
		x.push((run.x[from] + run.x[to - 1]) / 2);
		for (let c = 0; c < columns.length; c++) {
			const column = columns[c];
			let sum = 0, count = 0, low = Infinity, high = -Infinity;

			for (let at = from; at < to; at++) {
				const value = column[at];
				if (value !== value)
					continue;
				sum += value;
				count++;
				low = value < low ? value : low;
				high = value > high ? value : high;
			}
			means[c].push(count ? sum / count : null);
			bands[c][0].push(count ? low : null);
			bands[c][1].push(count ? high : null);
		}
	}
	return {x, means, bands};
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
