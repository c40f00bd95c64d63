/* One chart: uPlot with our colours, axes, marks and read-out. */

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
	3600, 7200, 10800, 21600, 43200, 86400, 172800, 432800, 864000];
const BINARY = Array.from({length: 80}, (_, i) => 2 ** (i - 20));
const PLOT_HEIGHT = 176, PRINT_PLOT_HEIGHT = 120, AXIS_WIDTH = 74, RIGHT_ROOM = 24;
const FONT = 'system-ui, sans-serif';
/* A peak up to this part of the largest sample is that sample, rounded. */
const SAMPLED_PEAK = 1.005;

const pale = (name, alpha) => colour(name) + alpha;

/* Returns the events of a run, which every chart shows as vertical lines. */
const eventsOf = (run) => {
	const events = (run.end.signals || []).filter((signal) => signal.elapsed_secs !== null)
		.map((signal) => ({at: signal.elapsed_secs, text: String(signal.signal), kind: 'signal'}));
	const kills = run.values(LAYOUT.oom_kills);
	let counted = false;

	for (let i = 1; kills && i < kills.length; i++)
		if (kills[i] > kills[i - 1]) {
			events.push({at: run.x[i], text: 'OOM', kind: 'oom'});
			counted = true;
		}
	if (!counted && String(run.summary.end.reason).startsWith('oom_kill'))
		events.push({at: run.x[run.x.length - 1], text: 'OOM', kind: 'oom'});
	/* A phase that was never stopped ends with the recording, so it has no stop mark. */
	for (const phase of run.phases) {
		events.push({at: phase.start, text: phase.name, kind: 'start'});
		if (phase.stop < run.length - 1e-3)
			events.push({at: phase.stop, text: phase.name, kind: 'stop'});
	}
	return events.sort((a, b) => a.at - b.at);
};

class Chart {
	/* `runs` is one run, or several that are drawn over each other. */
	constructor(view, layout, runs, lines) {
		this.view = view;
		this.layout = layout;
		this.runs = runs;
		this.run = runs.length === 1 ? runs[0] : null;
		this.unit = layout.unit;
		this.series = lines;
		this.limit = this.run && layout.limit ? this.run.figure(layout.limit[0], layout.limit[1]) : null;
		const most = Math.max(0, ...lines.filter((line) => line.shown).map((line) => topOf(line) || 0));
		this.limitFits = this.limit > 0 && most >= 0.25 * this.limit;
		this.peak = this.run && layout.peak ? this.peakOf(layout.peak) : null;
		this.plot = null;
		this.bands = [];
	}

	/* The summary's peak: a dot where a sample has it, else a line at its height, because no line of samples goes there. */
	peakOf([group, ...names]) {
		const [value, at, source] = names.map((name) => this.run.figure(group, name)), job = this.series.find(({look}) => look === 'job');

		if (value === null || !job)
			return null;
		const sampled = at !== null && value <= SAMPLED_PEAK * topOf(job);
		return {value, at: sampled ? at : null, text: `peak ${withUnit(value, this.unit)}` + (sampled ? '' : source === 'largest_process' ? ', of the largest process' : ', between two samples')};
	}

	get empty() {
		return this.series.length === 0;
	}

	get idle() {
		return this.series.every((line) => topOf(line) === 0);
	}

	visible() {
		return this.series.filter((line) => line.shown);
	}

	spoken() {
		return `${this.layout.title} over time. ${this.series.map((line) => `${line.label}: at most ${withUnit(topOf(line), this.unit)}`).join(', ')}. The numbers are in the tables below.`;
	}

	/* Returns [smallest, largest]: the part of the vertical axis that the shown range needs. */
	reach() {
		let [least, most] = [Infinity, -Infinity];

		for (const line of this.visible()) {
			const [low, high] = extent(line.values, ...line.run.span(this.view.from, this.view.to));
			if (low < least)
				least = low;
			if (high > most)
				most = high;
		}
		if (this.layout.stacked)
			most = Math.max(most, this.tallest());
		if (this.layout.from_zero !== false)
			least = 0;
		if (this.limitFits)
			most = Math.max(most, this.limit);
		if (this.peak && this.peak.at === null && this.view.whole)
			most = Math.max(most, this.peak.value);
		return [least, most];
	}

	/* Returns the largest height of the stack in the shown range. */
	tallest() {
		const [first, end] = this.run.span(this.view.from, this.view.to), lines = this.visible();
		let most = -Infinity;

		for (let i = first; i < end; i++) {
			let sum = 0;
			for (const {values} of lines)
				sum += values[i] === values[i] ? values[i] : 0;
			most = sum > most ? sum : most;
		}
		return most;
	}

	readout() {
		this.entries = this.series.map((line) => {
			const value = element('span', {class: 'value'}), swatch = element('span', {class: 'swatch' + (this.layout.stacked ? ' area' : line.dash ? ' dashed' : ''), 'aria-hidden': 'true'});
			const button = element('button', {type: 'button', class: 'entry', 'aria-pressed': String(line.shown), title: line.title, onclick: () => this.toggle(line, button)},
				swatch, element('span', {class: 'label'}, line.label), value);
			swatch.style.setProperty('--swatch', `var(--${line.colour})`);
			return {line, value, button};
		});
		const limit = this.limit > 0 && !this.empty ? element('span', {class: 'entry look-limit still'}, element('span', {class: 'swatch dashed', 'aria-hidden': 'true'}),
			element('span', {}, this.limitFits ? 'Limit' : 'Limit, above the chart'), element('span', {class: 'value'}, withUnit(this.limit, this.unit))) : null;
		return element('div', {class: 'readout'}, this.entries.map((entry) => entry.button), limit);
	}

	toggle(line, button) {
		line.shown = !line.shown;
		button.setAttribute('aria-pressed', String(line.shown));
		this.plot.setSeries(this.series.indexOf(line) + 1, {show: line.shown});
		this.stackAgain();
		this.view.draw([this]);
	}

	/* Shows the values at the samples of the pointer; without a pointer, the largest values of the shown range. */
	tell(indices) {
		for (const {line, value} of this.entries) {
			const index = indices.get(line.run);
			value.textContent = index === null ? 'max ' + withUnit(extent(line.values, ...line.run.span(this.view.from, this.view.to))[1], this.unit) : withUnit(line.values[index], this.unit);
		}
	}

	/* The areas between neighbouring lines of a stack. */
	stackBands() {
		const shown = this.series.map((line, i) => ({line, at: i + 1})).filter(({line}) => line.shown);

		return shown.slice(1).map(({line, at}, i) => ({series: [at, shown[i].at], fill: () => pale(line.colour, '8c')}));
	}

	stackAgain() {
		if (!this.layout.stacked)
			return;
		this.plot.delBand(null);
		for (const band of this.stackBands())
			this.plot.addBand(band);
	}

	fillOf(line) {
		if (this.layout.stacked)
			return line === this.visible()[0] ? pale(line.colour, '8c') : undefined;
		return line.fill && !this.bands.length ? colour('job-fill') : undefined;
	}

	options(width) {
		const view = this.view;
		const grid = {stroke: () => colour('grid'), width: 1};
		const ticks = {show: false};
		const font = `11px ${FONT}`;
		const stroke = () => colour('muted');
		const binary = ['MiB', 'bytes', 'bytes/s'].includes(this.unit);
		const draws = (line) => ({label: line.label, show: line.shown, width: line.width, dash: line.dash, stroke: () => colour(line.colour), fill: () => this.fillOf(line),
			points: {show: false}, paths: this.layout.stepped ? uPlot.paths.stepped({align: this.layout.states ? -1 : 1}) : undefined});

		return {
			width, height: PLOT_HEIGHT, padding: [10, RIGHT_ROOM, 0, 0], legend: {show: false}, focus: {alpha: 1},
			cursor: {
				y: false, points: {size: 6, width: 1.5, fill: () => colour('card')},
				drag: {x: true, y: false, setScale: false, dist: 4},
				sync: {key: 'time', setSeries: false, scales: ['x', null], filters: {pub: (type) => type === 'mousemove' || type === 'mouseleave'}},
				bind: {dblclick: () => () => view.reset(), mousedown: (plot, target, handler) => (event) => event.shiftKey ? view.startPan(event, plot) : handler(event)},
			},
			scales: {x: {time: false, range: () => [view.from, view.to]}, y: {range: () => this.range || [0, 1]}},
			axes: [
				{stroke, grid: {...grid, show: true}, ticks, font, size: 26, gap: 4, space: () => view.local ? 96 : 70, incrs: SECONDS, values: (plot, splits, axis, space, step) => splits.map((secs) => view.onTimeAxis(secs, step))},
				{stroke, grid, ticks, font, size: AXIS_WIDTH, gap: 6, space: 34, incrs: binary ? BINARY : undefined, values: (plot, splits, axis, space, step) => splits.map((value) => onAxis(value, this.unit, step))},
			],
			series: [{}, ...this.series.map(draws)],
			bands: this.layout.stacked ? this.stackBands() : undefined,
			hooks: {
				drawAxes: [(plot) => this.drawPhases(plot), (plot) => this.drawBands(plot)],
				draw: [(plot) => this.drawMarks(plot)],
				setCursor: [(plot) => view.hovered(plot)],
				setSelect: [(plot) => {
					if (plot.select.width > 0)
						view.show(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
					plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
				}],
			},
		};
	}

	/* Each line becomes the sum of itself and the shown lines before it. */
	piled(means) {
		const heights = means.length ? means[0].map(() => 0) : [];

		return means.map((mean, s) => mean.map((value, i) => {
			if (!this.series[s].shown || means.every((other) => other[i] === null))
				return null;
			heights[i] += value || 0;
			return heights[i];
		}));
	}

	data(width) {
		const parts = this.runs.map((run) => {
			const lines = this.series.filter((line) => line.run === run);
			return {lines, ...thin(run, lines.map((line) => line.values), ...run.span(this.view.from, this.view.to), Math.max(150, width - AXIS_WIDTH))};
		}).filter(({lines}) => lines.length);

		this.bands = this.layout.stacked ? [] : parts.filter(({bands}) => bands).flatMap(({x, lines, bands}) => lines.map((line, i) => ({line, x, low: bands[i][0], high: bands[i][1]})));
		if (parts.length > 1)
			return uPlot.join(parts.map(({x, means}) => [x, ...means]));
		const [{x, means}] = parts, columns = [x, ...(this.layout.stacked ? this.piled(means) : means)];
		/* A part of an interval is drawn back to the point before, and the first interval has none. */
		if (this.layout.states && this.view.from < x[0])
			columns.forEach((column, i) => column.unshift(i ? column[0] : this.view.from));
		return columns;
	}

	mount(place) {
		const width = Math.max(200, place.clientWidth);

		this.place = place;
		this.plot = new uPlot(this.options(width), this.data(width), place);
	}

	unmount() {
		if (this.plot)
			this.plot.destroy();
		this.plot = null;
	}

	/* A scale as a linear function: asking uPlot for each of thousands of events takes long. */
	linear(plot, scale) {
		const {min, max} = plot.scales[scale], low = plot.valToPos(min, scale, true), slope = (plot.valToPos(max, scale, true) - low) / (max - min || 1);

		return (value) => low + (value - min) * slope;
	}

	/* Draws clipped to the plot area of the canvas. */
	within(plot, draw) {
		const {ctx, bbox} = plot;

		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		ctx.font = `${11 * uPlot.pxRatio}px ${FONT}`;
		ctx.textAlign = 'left';
		ctx.textBaseline = 'alphabetic';
		draw(ctx, bbox, this.linear(plot, 'x'), this.linear(plot, 'y'));
		ctx.restore();
	}

	/* Tints the time of each phase. The bar above the charts has their names. */
	drawPhases(plot) {
		if (!this.run || !this.run.phases.length)
			return;
		this.within(plot, (ctx, bbox, x) => {
			const tints = Array.from({length: PALETTE}, () => new Path2D());

			for (const phase of this.view.shownPhases(this.run, bbox.width / uPlot.pxRatio)) {
				const left = x(phase.start);
				tints[phase.kind % PALETTE].rect(left, bbox.top, Math.max(1, x(phase.stop) - left), bbox.height);
			}
			tints.forEach((path, i) => {
				ctx.fillStyle = pale('c' + i, '14');
				ctx.fill(path);
			});
		});
	}

	/* Where a line is a mean of many samples, a pale band shows their smallest and largest values. */
	drawBands(plot) {
		this.within(plot, (ctx, bbox, x, y) => {
			for (const {line, x: times, low, high} of this.bands.filter(({line: one}) => one.shown)) {
				ctx.fillStyle = pale(line.colour, line.colour === 'machine' ? '2e' : '3d');
				for (let from = 0; from < times.length; from++) {
					if (low[from] === null)
						continue;
					let to = from;
					while (to + 1 < times.length && low[to + 1] !== null)
						to++;
					ctx.beginPath();
					for (let i = from; i <= to; i++)
						ctx.lineTo(x(times[i]), y(high[i]) - 0.5);
					for (let i = to; i >= from; i--)
						ctx.lineTo(x(times[i]), y(low[i]) + 0.5);
					ctx.fill();
					from = to;
				}
			}
		});
	}

	/* A value between two gaps does not make a line, so it gets a dot. */
	drawLone(plot, ctx, x, y) {
		this.series.forEach((line, s) => {
			const values = plot.data[s + 1], times = plot.data[0];

			if (!line.shown || this.runs.length > 1)
				return;
			ctx.fillStyle = colour(line.colour);
			for (let i = 0; i < values.length; i++)
				if (values[i] !== null && (i === 0 || values[i - 1] === null) && (i + 1 === values.length || values[i + 1] === null)) {
					ctx.beginPath();
					ctx.arc(x(times[i]), y(values[i]), 2 * uPlot.pxRatio, 0, 2 * Math.PI);
					ctx.fill();
				}
		});
	}

	drawMarks(plot) {
		const ratio = uPlot.pxRatio;

		this.within(plot, (ctx, bbox, x, y) => {
			this.drawLone(plot, ctx, x, y);
			ctx.lineWidth = 1.2 * ratio;
			if (this.limitFits) {
				ctx.strokeStyle = colour('limit');
				ctx.setLineDash([8 * ratio, 4 * ratio]);
				ctx.beginPath();
				ctx.moveTo(bbox.left, y(this.limit));
				ctx.lineTo(bbox.left + bbox.width, y(this.limit));
				ctx.stroke();
			}
			if (this.run)
				this.drawEvents(ctx, bbox, x);
			if (this.peak && this.peak.at === null)
				this.drawPeakLine(ctx, y(this.peak.value), bbox);
			else if (this.peak && this.peak.at >= this.view.from && this.peak.at <= this.view.to)
				this.drawPeak(ctx, x(this.peak.at), y(this.peak.value), bbox);
		});
	}

	drawEvents(ctx, bbox, x) {
		const ratio = uPlot.pxRatio;
		const mark = {name: 'mark', dash: [], path: new Path2D()};
		const looks = {oom: {name: 'bad', dash: [], path: new Path2D()}, signal: {name: 'ink', dash: [2 * ratio, 3 * ratio], path: new Path2D()}, start: mark, stop: mark};
		const events = this.view.shownEvents(this.run, bbox.width / ratio);
		let flagged = -Infinity;

		for (const event of events) {
			const at = x(event.at), {path} = looks[event.kind];
			path.moveTo(at, bbox.top);
			path.lineTo(at, bbox.top + bbox.height);
		}
		for (const {name, dash, path} of [mark, looks.signal, looks.oom]) {
			ctx.strokeStyle = colour(name);
			ctx.setLineDash(dash);
			ctx.stroke(path);
		}
		for (const event of events)
			if (looks[event.kind] !== mark && x(event.at) > flagged)
				flagged = x(event.at) + this.flag(ctx, bbox, x(event.at), event);
	}

	/* Draws a label on the side of the line that has room; returns the label's width. */
	flag(ctx, bbox, at, event) {
		const ratio = uPlot.pxRatio, width = ctx.measureText(event.text).width + 8 * ratio;
		const left = at + width > bbox.left + bbox.width ? at - width : at;

		ctx.fillStyle = colour(event.kind === 'oom' ? 'bad' : 'ink');
		ctx.fillRect(left, bbox.top, width, 15 * ratio);
		ctx.fillStyle = colour('card');
		ctx.fillText(event.text, left + 4 * ratio, bbox.top + 11 * ratio);
		return width;
	}

	drawPeakLine(ctx, y, bbox) {
		const ratio = uPlot.pxRatio;

		ctx.setLineDash([2 * ratio, 3 * ratio]);
		ctx.strokeStyle = colour('job');
		ctx.beginPath();
		ctx.moveTo(bbox.left, y);
		ctx.lineTo(bbox.left + bbox.width, y);
		ctx.stroke();
		ctx.fillStyle = colour('ink');
		ctx.fillText(this.peak.text, bbox.left + 6 * ratio, y + 13 * ratio);
	}

	drawPeak(ctx, x, y, bbox) {
		const ratio = uPlot.pxRatio, {text} = this.peak;
		const width = ctx.measureText(text).width, right = bbox.left + bbox.width;
		const left = x + width + 10 * ratio > right ? x - width - 7 * ratio : x + 7 * ratio;

		ctx.setLineDash([]);
		ctx.strokeStyle = ctx.fillStyle = colour('job');
		ctx.beginPath();
		ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
		ctx.stroke();
		ctx.fillStyle = colour('ink');
		ctx.fillText(text, Math.max(bbox.left + 4 * ratio, Math.min(left, right - width - 2 * ratio)), Math.max(y - 4 * ratio, bbox.top + 11 * ratio));
	}
}
