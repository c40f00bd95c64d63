/* One chart of one run: uPlot with our colours, axes, marks and read-out. */

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
	3600, 7200, 10800, 21600, 43200, 86400, 172800, 432800, 864000];
const BINARY = Array.from({length: 80}, (_, i) => 2 ** (i - 20));
const PLOT_HEIGHT = 176;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

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
	constructor(view, layout, run) {
		this.view = view;
		this.layout = layout;
		this.run = run;
		this.unit = layout.unit;
		this.series = layout.series.map((series) => ({...series, values: run.drawn(layout, series), shown: true}))
			.filter((series) => series.values && series.values.some((value) => value === value));
		this.hideRepeated();
		this.limit = layout.limit ? run.figure(layout.limit[0], layout.limit[1]) : null;
		const most = Math.max(0, ...this.series.filter((series) => series.shown).map((series) => extent(series.values, 0, series.values.length)[1] || 0));
		this.limitFits = this.limit > 0 && most >= 0.25 * this.limit;
		this.peak = layout.peak && run.figure(layout.peak[0], layout.peak[2]) !== null ?
			{at: run.figure(layout.peak[0], layout.peak[2]), value: run.figure(layout.peak[0], layout.peak[1])} : null;
		this.plot = null;
	}

	/*
	 * Drops a series that equals the one it would repeat. Hides a series that is so large that the job's line
	 * would be flat.
	 */
	hideRepeated() {
		const top = (series) => extent(series.values, 0, series.values.length)[1];
		const job = this.series.find((series) => series.look === 'job');

		this.series = this.series.filter((series) => !series.only_if_any || top(series) > 0).filter((series) => {
			const same = series.same_as && this.series.find((other) => other.column === series.same_as);
			return !same || series.values.some((value, i) => value === value && value !== same.values[i]);
		});
		for (const series of this.series)
			if (series.aside && job && series !== job && top(series) > 6 * top(job))
				series.shown = false;
	}

	get empty() {
		return this.series.length === 0;
	}

	get idle() {
		return this.series.every((series) => extent(series.values, 0, series.values.length)[1] === 0);
	}

	visible() {
		return this.series.filter((series) => series.shown);
	}

	/* Returns [smallest, largest]: the part of the vertical axis that the shown range needs. */
	reach() {
		const [first, end] = this.run.span(this.view.from, this.view.to);
		let [least, most] = [Infinity, -Infinity];

		for (const series of this.visible()) {
			const [low, high] = extent(series.values, first, end);
			if (low < least)
				least = low;
			if (high > most)
				most = high;
		}
		if (this.layout.from_zero !== false)
			least = 0;
		if (this.limitFits)
			most = Math.max(most, this.limit);
		return [least, most];
	}

	readout() {
		this.entries = this.series.map((series) => {
			const value = element('span', {class: 'value'});
			const button = element('button', {type: 'button', class: 'entry look-' + series.look, 'aria-pressed': String(series.shown),
				title: (this.run.column(series.column) || {}).help, onclick: () => this.toggle(series, button)},
			element('span', {class: 'swatch', 'aria-hidden': 'true'}), element('span', {}, series.label), value);
			return {series, value, button};
		});
		const limit = this.limit > 0 && !this.empty ? element('span', {class: 'entry look-limit still'}, element('span', {class: 'swatch', 'aria-hidden': 'true'}),
			element('span', {}, this.limitFits ? 'Limit' : 'Limit, above the chart'), element('span', {class: 'value'}, withUnit(this.limit, this.unit))) : null;
		return element('div', {class: 'readout'}, this.entries.map((entry) => entry.button), limit);
	}

	toggle(series, button) {
		series.shown = !series.shown;
		button.setAttribute('aria-pressed', String(series.shown));
		this.view.draw([this]);
		this.plot.setSeries(this.series.indexOf(series) + 1, {show: series.shown});
	}

	/* Shows the values at a sample; without an index, the largest values of the shown range. */
	tell(index) {
		const [first, end] = this.run.span(this.view.from, this.view.to);

		for (const {series, value} of this.entries)
			value.textContent = index === null ? 'max ' + withUnit(extent(series.values, first, end)[1], this.unit) : withUnit(series.values[index], this.unit);
	}

	options(width) {
		const view = this.view;
		const grid = {stroke: () => colour('grid'), width: 1};
		const ticks = {show: false};
		const font = '11px system-ui, sans-serif';
		const stroke = () => colour('muted');
		const binary = ['MiB', 'bytes/s'].includes(this.unit);
		const looks = {job: {width: 1.8, fill: true}, 'job-out': {width: 1.5, dash: [6, 3]}, machine: {width: 1.2}, 'machine-out': {width: 1.2, dash: [6, 3]},
			second: {width: 1.3, dash: [2, 2]}, third: {width: 1.3}, fourth: {width: 1.3, dash: [8, 3, 2, 3]}, fifth: {width: 1.2, dash: [3, 3]}, limit: {width: 1.4, dash: [8, 4]}};
		const draws = (series) => {
			const look = looks[series.look];
			const name = series.look.replace('-out', '');
			return {label: series.label, show: series.shown, width: look.width, dash: look.dash, stroke: () => colour(name),
				fill: look.fill ? () => colour('job-fill') : undefined, points: {show: this.run.x.length < 3},
				paths: this.layout.stepped ? uPlot.paths.stepped({align: 1}) : undefined};
		};

		return {
			width, height: PLOT_HEIGHT, padding: [10, 24, 0, 0], legend: {show: false}, focus: {alpha: 1},
			cursor: {
				y: false, points: {size: 6, width: 1.5, fill: () => colour('card')},
				drag: {x: true, y: false, setScale: false, dist: 4},
				sync: {key: 'time', setSeries: false, scales: ['x', null], filters: {pub: (type) => type === 'mousemove' || type === 'mouseleave'}},
				bind: {dblclick: () => () => view.reset(), mousedown: (plot, target, handler) => (event) => event.shiftKey ? view.startPan(event, plot) : handler(event)},
			},
			scales: {x: {time: false, range: () => [view.from, view.to]}, y: {range: () => this.range || [0, 1]}},
			axes: [
				{stroke, grid: {...grid, show: true}, ticks, font, size: 26, gap: 4, space: 70, incrs: SECONDS, values: (plot, splits, axis, space, step) => splits.map((secs) => clock(secs, step))},
				{stroke, grid, ticks, font, size: 74, gap: 6, space: 34, incrs: binary ? BINARY : undefined, values: (plot, splits, axis, space, step) => splits.map((value) => onAxis(value, this.unit, step))},
			],
			series: [{}, ...this.series.map(draws)],
			hooks: {
				drawAxes: [(plot) => this.drawPhases(plot)],
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

	data(width) {
		const [first, end] = this.run.span(this.view.from, this.view.to);

		return thin(this.run.x, this.series.map((series) => series.values), first, end, Math.max(50, Math.round(width)));
	}

	mount(place) {
		const width = Math.max(200, place.clientWidth);

		this.place = place;
		this.plot = new uPlot(this.options(width), this.data(width), place);
	}

	/* Draws clipped to the plot area of the canvas. */
	within(plot, draw) {
		const {ctx, bbox} = plot;

		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`;
		ctx.textAlign = 'left';
		ctx.textBaseline = 'alphabetic';
		draw(ctx, bbox, (secs) => plot.valToPos(secs, 'x', true), (value) => plot.valToPos(value, 'y', true));
		ctx.restore();
	}

	drawPhases(plot) {
		if (!this.run.phases.length)
			return;
		this.within(plot, (ctx, bbox, x) => {
			const ratio = uPlot.pxRatio, right = bbox.left + bbox.width;
			const [ink, ...bands] = ['muted', 'phase-a', 'phase-b'].map(colour);
			let last = NaN;

			for (const phase of this.run.phases) {
				const left = x(phase.start), width = Math.max(1, x(phase.stop) - left);
				const shown = Math.max(left, bbox.left), seen = Math.min(left + width, right) - shown;
				/*
				 * Draw only one of several phases that are narrower than a pixel and lie side by
				 * side.
				 */
				if (seen <= 0 || (width <= ratio && Math.abs(left - last) < ratio))
					continue;
				last = left;
				ctx.fillStyle = bands[phase.kind % 2];
				ctx.fillRect(left, bbox.top, width, bbox.height);
				ctx.fillStyle = ink;
				if (seen > 16 * ratio && seen > ctx.measureText(phase.name).width + 8 * ratio)
					ctx.fillText(phase.name, shown + 4 * ratio, bbox.top + (11 + 13 * phase.lane) * ratio);
			}
		});
	}

	drawMarks(plot) {
		const ratio = uPlot.pxRatio;

		this.within(plot, (ctx, bbox, x, y) => {
			ctx.lineWidth = 1.2 * ratio;
			if (this.limitFits) {
				ctx.strokeStyle = colour('limit');
				ctx.setLineDash([8 * ratio, 4 * ratio]);
				ctx.beginPath();
				ctx.moveTo(bbox.left, y(this.limit));
				ctx.lineTo(bbox.left + bbox.width, y(this.limit));
				ctx.stroke();
			}
			const looks = {oom: ['bad', []], signal: ['ink', [2 * ratio, 3 * ratio]], start: ['mark', []], stop: ['mark', []]};
			const last = {};
			let flagged = -Infinity;

			for (const event of this.run.events) {
				const at = x(event.at), [name, dash] = looks[event.kind];
				/* Draw only one of several lines at the same pixel. */
				if (at < bbox.left - 1 || at > bbox.left + bbox.width + 1 || Math.abs(at - last[name]) < ratio)
					continue;
				last[name] = at;
				ctx.strokeStyle = ctx.fillStyle = colour(name);
				ctx.setLineDash(dash);
				ctx.beginPath();
				ctx.moveTo(at, bbox.top);
				ctx.lineTo(at, bbox.top + bbox.height);
				ctx.stroke();
				if (name !== 'mark' && at > flagged)
					flagged = at + this.flag(ctx, bbox, at, event);
			}
			if (this.peak && this.peak.value >= 0)
				this.drawPeak(ctx, x(this.peak.at), y(this.peak.value), bbox);
		});
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

	drawPeak(ctx, x, y, bbox) {
		const ratio = uPlot.pxRatio, text = 'peak ' + withUnit(this.peak.value, this.unit).replace('\u00a0', ' ');
		const width = ctx.measureText(text).width;
		const right = x + width + 10 * ratio > bbox.left + bbox.width;

		ctx.setLineDash([]);
		ctx.strokeStyle = ctx.fillStyle = colour('job');
		ctx.beginPath();
		ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
		ctx.stroke();
		ctx.fillStyle = colour('ink');
		ctx.fillText(text, right ? x - width - 7 * ratio : x + 7 * ratio, Math.max(y - 4 * ratio, bbox.top + 11 * ratio));
	}
}
