/* Reads the packed columns of a run, which src/report/series.h writes. */

/*
 * Unpacks a column into a Float64Array, with NaN for a missing value. Without `count`, the column itself says how
 * many values it has.
 */
const unpack = (text, decimals, count) => {
	const bytes = atob(text);
	const scale = 10 ** decimals;
	let values = new Float64Array(count || 1024);
	let at = 0, filled = 0, last = 0;

	const number = () => {
		let value = 0, weight = 1, byte;

		do {
			byte = bytes.charCodeAt(at++);
			value += (byte & 0x7f) * weight;
			weight *= 128;
		} while (byte & 0x80);
		return value;
	};
	const room = (more) => {
		if (filled + more <= values.length)
			return;
		const larger = new Float64Array(Math.max(2 * values.length, filled + more));
		larger.set(values);
		values = larger;
	};
	while (at < bytes.length) {
		const token = number();
		const times = token < 2 ? number() : 1;

		if (token > 1)
			last += token % 2 ? (token - 1) / 2 : -token / 2;
		room(times);
		values.fill(token === 0 ? NaN : last / scale, filled, filled + times);
		filled += times;
	}
	return values.subarray(0, filled);
};

/*
 * Returns the calls of phases by their start as {name, kind, start, stop, lane}. A call gets the first lane that is
 * free at its start.
 */
const lanes = (phases) => {
	const calls = phases.flatMap((phase, kind) => phase.calls.map(([start, stop]) => ({name: phase.name, kind, start, stop, lane: 0})));
	const ends = [];

	calls.sort((a, b) => a.start - b.start || b.stop - a.stop);
	for (const call of calls) {
		const free = ends.findIndex((end) => end <= call.start);
		call.lane = free < 0 ? ends.length : free;
		ends[call.lane] = call.stop;
	}
	return calls;
};

/* Gives the charts what they need of a run: its columns, unpacked at first use. */
class Run {
	constructor(raw, index) {
		const time = raw.columns.find((column) => column.column === LAYOUT.time);

		this.raw = raw;
		raw.index = index;
		this.index = index;
		this.summary = raw.summary;
		this.start = raw.run_start || {};
		this.end = raw.run_end || {};
		this.phases = lanes(raw.phases || []);
		this.x = time ? unpack(time.data, time.decimals) : new Float64Array(0);
		this.unpacked = new Map();
		this.name = this.summary.run.job_name || this.summary.run.executable || raw.file;
	}

	figure(group, name) {
		const value = (this.summary[group] || {})[name];

		return value === undefined ? null : value;
	}

	column(name) {
		return this.raw.columns.find((column) => column.column === name);
	}

	values(name) {
		const column = this.column(name);

		if (!column)
			return null;
		if (!this.unpacked.has(name))
			this.unpacked.set(name, unpack(column.data, column.decimals, this.x.length));
		return this.unpacked.get(name);
	}

	/* Returns the values that a chart draws of a series: rates, if the column holds changes per interval. */
	drawn(chart, series) {
		const values = this.values(series.column);
		const key = chart.id + '/' + series.column;

		if (!values || !chart.per_interval)
			return values;
		if (!this.unpacked.has(key)) {
			const lengths = this.values(LAYOUT.interval);
			const rates = new Float64Array(values.length);

			for (let i = 0; i < rates.length; i++)
				rates[i] = lengths && lengths[i] > 0 ? values[i] / lengths[i] * 1000 * (chart.factor || 1) : NaN;
			this.unpacked.set(key, rates);
		}
		return this.unpacked.get(key);
	}

	/* Returns the index of the sample nearest to a time, or -1 without samples. */
	nearest(time) {
		let low = 0, high = this.x.length - 1;

		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.x[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		return low > 0 && time - this.x[low - 1] <= this.x[low] - time ? low - 1 : high;
	}

	/* Returns [first, last + 1) for the samples from `from` to `to`, plus one more on each side. */
	span(from, to) {
		const first = this.nearest(from), last = this.nearest(to);

		return [Math.max(0, first - 1), Math.min(this.x.length, last + 2)];
	}

	get length() {
		return Math.max(this.x.length ? this.x[this.x.length - 1] : 0, this.figure('time', 'wall_secs') || 0);
	}
}
