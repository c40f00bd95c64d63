/* Reads the packed columns of a run, which src/report/series.h writes. */

/* Base64 into bytes. */
const bytesOf = (text) => {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const characters = atob(text), bytes = new Uint8Array(characters.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = characters.charCodeAt(i);
	return bytes;
};

/*
 * Unpacks a column into a Float64Array, with NaN for a missing value. Without `count`, the column itself says how
 * many values it has. The loop calls nothing, because a page may have millions of values.
 */
const unpack = (text, decimals, count) => {
	const bytes = bytesOf(text), size = bytes.length, scale = 10 ** decimals;
	let values = new Float64Array(count || 1024);
	let at = 0, filled = 0, last = 0, repeated = -1;

	while (at < size) {
		let number = bytes[at++];

		if (number > 127) {
			let byte = bytes[at++], shift = 7;
			number = number & 127 | (byte & 127) << shift;
			while (byte > 127 && shift < 21) {
				byte = bytes[at++];
				shift += 7;
				number |= (byte & 127) << shift;
			}
			/* Larger numbers than a shift can build. */
			for (let weight = 2 ** 28; byte > 127; weight *= 128) {
				byte = bytes[at++];
				number += (byte & 127) * weight;
			}
		}
		if (repeated < 0 && number < 2) {
			repeated = number;
			continue;
		}
		const times = repeated < 0 ? 1 : number;
		if (filled + times > values.length) {
			const larger = new Float64Array(Math.max(2 * values.length, filled + times));
			larger.set(values);
			values = larger;
		}
		if (repeated < 0) {
			const half = number < 2 ** 30 ? number >> 1 : Math.floor(number / 2);
			last += number === 2 * half ? -half : half;
			values[filled++] = last / scale;
		} else {
			values.fill(repeated === 0 ? NaN : last / scale, filled, filled + times);
			filled += times;
			repeated = -1;
		}
	}
	return values.subarray(0, filled);
};

/*
 * Returns the calls of phases by their start as {name, kind, start, stop, lane}. A call gets the first lane that is
 * free at its start.
 */
const lanes = (phases) => {
	const calls = phases.flatMap(({name, kind, calls: all}) => all.map(([start, stop]) => ({name, kind, start, stop, lane: 0})));
	const ends = [];

	calls.sort((a, b) => a.start - b.start || b.stop - a.stop);
	for (const call of calls) {
		const free = ends.findIndex((end) => end <= call.start);
		call.lane = free < 0 ? ends.length : free;
		ends[call.lane] = call.stop;
	}
	return calls;
};

/* Phases with the same name have the same colour in all runs. */
const nameKinds = (runs) => {
	const kinds = new Map();

	for (const run of runs)
		for (const phase of [...run.phaseList, ...run.phases]) {
			if (!kinds.has(phase.name))
				kinds.set(phase.name, kinds.size);
			phase.kind = kinds.get(phase.name);
		}
};

/* A line ends where this many intervals have no sample, and where a device's values are older than this. */
const GAP_INTERVALS = 5, OLDEST_SECS = 5;

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
		/* Phases in the order of their first calls; a kind is a colour. */
		this.phaseList = (raw.phases || []).filter(({calls}) => calls.length).sort((a, b) => a.calls[0][0] - b.calls[0][0]).map((phase, kind) => ({...phase, kind}));
		this.phases = lanes(this.phaseList);
		this.x = time ? unpack(time.data, time.decimals) : new Float64Array(0);
		this.gap = GAP_INTERVALS * this.usualInterval();
		this.began_at = this.figure('run', 'started_timestamp');
		this.unpacked = new Map();
		this.name = this.summary.run.job_name || this.start.command || this.start.program || this.start.executable ? this.summary.run.name : raw.file;
		this.name += this.start.task_name && !this.name.startsWith(this.start.task_name) ? ` ${this.start.task_name}` : '';
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

	/* Returns the values that a chart draws of a column: rates, if the column holds changes per interval. */
	drawn(chart, column) {
		const key = chart.id + '/' + column;

		if (!chart.per_interval)
			return this.values(column);
		if (!this.unpacked.has(key))
			this.unpacked.set(key, this.rates(chart, this.values(column)));
		return this.unpacked.get(key);
	}

	rates(chart, values) {
		const lengths = this.values(LAYOUT.interval);

		if (!values)
			return values;
		const rates = new Float64Array(values.length), factor = 1000 * (chart.factor || 1);
		for (let i = 0; i < rates.length; i++)
			rates[i] = lengths && lengths[i] > 0 ? values[i] / lengths[i] * factor : NaN;
		return rates;
	}

	/* Returns {name, label, title, values} of each row of a chart's kind. Values that are too old are missing. */
	instances(chart) {
		const rows = (this.raw.rows || []).find(({rows: kind}) => kind === chart.rows);
		const column = (instance, name) => instance.columns.find((one) => one.column === `${chart.rows}.${name}`);
		const values = (one) => one && unpack(one.data, one.decimals, this.x.length);

		return !rows ? [] : rows.instances.map((instance) => {
			const found = chart.columns.map((name) => values(column(instance, name))).filter(Boolean);
			const age = chart.age && values(column(instance, chart.age));
			if (!found.length || this.isDivided(chart, instance.name))
				return null;
			const sum = found[0].map((value, i) => found.slice(1).reduce((all, more) => all + (more[i] === more[i] ? more[i] : 0), age && age[i] > this.oldest ? NaN : value));
			return {name: instance.name, ...this.naming(chart, instance.name), values: chart.per_interval ? this.rates(chart, sum) : sum};
		}).filter(Boolean);
	}

	/* A divided GPU is the sum of its instances, which have lines of their own. */
	isDivided(chart, name) {
		return chart.rows === 'gpu' && (this.raw.summary.gpus || []).some(({mig_parent: parent}) => parent === name);
	}

	naming(chart, name) {
		const gpu = chart.rows === 'gpu' && (this.raw.summary.gpus || []).find(({uuid}) => uuid === name);

		return gpu && gpu.index !== null ? {label: `GPU ${gpu.index}` + (gpu.mig_parent ? ` (${name.slice(-6)})` : ''), title: [gpu.name, name].filter(Boolean).join(', ')} : {label: chart.rows === 'programs' ? fullName(name) : name, title: name};
	}

	/* Returns the median of the first intervals. */
	usualInterval() {
		const lengths = Array.from({length: Math.min(1000, Math.max(0, this.x.length - 1))}, (_, i) => this.x[i + 1] - this.x[i]).sort((a, b) => a - b);

		return lengths.length ? lengths[lengths.length >> 1] : Infinity;
	}

	/* Says whether samples are missing before a sample. */
	missing(index) {
		return this.x[index] - this.x[index - 1] > this.gap;
	}

	get oldest() {
		return Math.max(OLDEST_SECS, this.gap);
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
		return Math.max(this.x.length ? this.x[this.x.length - 1] : 0, this.figure('time', 'tree_wall_secs') || this.figure('time', 'wall_secs') || 0);
	}
}
