/* The state that all charts share: the shown range of time and the pointer. It also changes the range. */

class View {
	constructor(runs) {
		this.runs = runs;
		this.length = Math.max(...runs.map((run) => run.length), 0.001);
		this.from = 0;
		this.to = this.length;
		this.charts = [];
		this.rows = [];
		this.bars = [];
		this.local = false;
		this.listeners = [];
		this.at = null;
		this.redraws = 0;
	}

	onChange(listener) {
		this.listeners.push(listener);
	}

	/* Shows a range of at least a millisecond, inside the recording. */
	show(from, to) {
		const width = Math.min(this.length, Math.max(to - from, 0.001));

		this.from = Math.min(Math.max(0, from), this.length - width);
		this.to = this.from + width;
		this.draw(this.charts);
	}

	/* Computes a list for a run once for all charts, while the shown time and the width stay. */
	once(run, name, width, make) {
		const key = `${this.from} ${this.to} ${width}`;

		run.lists = run.lists || {};
		if (!run.lists[name] || run.lists[name].key !== key)
			run.lists[name] = {key, list: make((this.to - this.from) / width)};
		return run.lists[name].list;
	}

	/* The phases in the shown time. One stands for several that are narrower than a pixel and lie side by side. */
	shownPhases(run, width) {
		return this.once(run, 'phases', width, (pixel) => {
			let last = -Infinity;

			return run.phases.filter(({start, stop}) => {
				if (stop < this.from || start > this.to || (stop - start <= pixel && Math.abs(start - last) < pixel))
					return false;
				last = start;
				return true;
			});
		});
	}

	/* The events in the shown time. One stands for several of a kind at the same pixel. */
	shownEvents(run, width) {
		return this.once(run, 'events', width, (pixel) => {
			const last = {};

			return run.events.filter(({at, kind}) => {
				const look = kind === 'stop' ? 'start' : kind;
				if (at < this.from - pixel || at > this.to + pixel || at - last[look] < pixel)
					return false;
				last[look] = at;
				return true;
			});
		});
	}

	reset() {
		this.show(0, this.length);
	}

	/* Labels the axis of time with times since the start, or of the clock. */
	onTimeAxis(secs, step) {
		return this.local ? wallClock(this.runs[0].began_at + secs, step) : clock(secs, step);
	}

	/* With Ctrl or the command key held, the wheel zooms around the pointer; with Shift it pans. Else the page scrolls. */
	wheel(event) {
		const over = event.target.closest ? event.target.closest('.u-over') : null;

		if (!over || !(event.ctrlKey || event.metaKey || event.shiftKey))
			return;
		event.preventDefault();
		const {left, width} = over.getBoundingClientRect(), steps = Math.max(-3, Math.min(3, (event.deltaY || event.deltaX) / 100));
		if (event.shiftKey)
			this.pan(0.15 * steps);
		else
			this.zoom(2 ** (steps / 2), this.from + (event.clientX - left) / width * (this.to - this.from));
	}

	get whole() {
		return this.from <= 0 && this.to >= this.length;
	}

	zoom(factor, around) {
		const middle = around === undefined || around === null ? (this.from + this.to) / 2 : around;

		this.show(middle - (middle - this.from) * factor, middle + (this.to - middle) * factor);
	}

	pan(part) {
		const shift = (this.to - this.from) * part;
		const from = Math.min(Math.max(0, this.from + shift), this.length - (this.to - this.from));

		this.show(from, from + this.to - this.from);
	}

	startPan(event, plot) {
		const from = this.from, to = this.to, x = event.clientX;
		const perPixel = (to - from) / plot.over.clientWidth;
		const move = (moved) => {
			const shift = Math.min(Math.max(-from, (x - moved.clientX) * perPixel), this.length - to);
			this.show(from + shift, to + shift);
		};
		const stop = () => {
			document.removeEventListener('mousemove', move);
			document.removeEventListener('mouseup', stop);
		};

		document.addEventListener('mousemove', move);
		document.addEventListener('mouseup', stop);
	}

	/* Gives charts of the same kind the same vertical axis, so that the eye can compare runs. */
	fitRows(charts) {
		for (const row of this.rows.filter((row) => row.some((chart) => charts.includes(chart)))) {
			let [least, most] = [Infinity, -Infinity];
			for (const [low, high] of row.map((chart) => chart.reach())) {
				least = Math.min(least, low);
				most = Math.max(most, high);
			}
			if (!(most >= least))
				[least, most] = [0, 1];
			/* Values that change by less than 1 % should look flat and need no long labels. */
			const room = Math.max((most - least) * 0.08, (Math.abs(most) * 0.01 - (most - least)) / 2) || 1;
			for (const chart of row)
				chart.range = [least === 0 || chart.layout.from_zero !== false ? least : least - room, most + room];
		}
	}

	draw(charts) {
		this.fitRows(charts);
		const rows = this.rows.filter((row) => row.some((chart) => charts.includes(chart))).flat();
		for (const chart of rows.filter((one) => one.plot)) {
			chart.plot.setData(chart.data(chart.plot.width), false);
			chart.plot.setScale('x', {min: this.from, max: this.to});
		}
		this.drawn();
	}

	/* After the charts: all else that shows the same time. */
	drawn() {
		this.bars.forEach((bar) => bar.draw(this.fixed && PRINT_WIDTH));
		this.tell();
		for (const listener of this.listeners)
			listener(this);
	}

	/* Only the chart below the pointer calls this; uPlot moves the pointer of the others. */
	hovered(plot) {
		if (!plot.cursor.event && !this.asked)
			return;
		const left = plot.cursor.left;
		const at = left >= 0 ? plot.posToVal(left, 'x') : null;
		if (at === this.at)
			return;
		this.at = at;
		if (!this.telling)
			this.telling = requestAnimationFrame(() => {
				this.telling = 0;
				this.tell();
			});
	}

	tell() {
		/* After the end of a run there is no sample of it. */
		const indices = new Map(this.runs.map((run) => [run, this.at === null ? null : this.at > run.length + run.gap ? -1 : run.nearest(this.at)]));

		for (const chart of this.charts)
			chart.tell(indices);
		for (const listener of this.hoverListeners || [])
			listener(this.at, indices);
	}

	/* Moves to the previous or next sample, for the keyboard. */
	step(by) {
		const run = this.runs[0], chart = this.charts.find((one) => one.runs[0] === run && one.plot);

		if (!chart)
			return;
		const now = this.at === null ? run.nearest((this.from + this.to) / 2) : run.nearest(this.at) + by;
		const time = run.x[Math.min(run.x.length - 1, Math.max(0, now))];
		if (time < this.from || time > this.to)
			this.show(this.from + (time < this.from ? time - this.from : time - this.to), this.to + (time < this.from ? time - this.from : time - this.to));
		this.at = time;
		for (const one of this.charts.filter((other) => other.plot))
			one.plot.setCursor({left: one.plot.valToPos(time, 'x'), top: 10}, false);
		this.tell();
	}

	onHover(listener) {
		(this.hoverListeners = this.hoverListeners || []).push(listener);
	}

	/* Fits the charts to their places, or to a width. */
	resize(fixed) {
		this.fixed = fixed;
		for (const chart of this.charts.filter((one) => one.plot)) {
			const width = fixed || Math.max(200, chart.place.clientWidth), height = fixed ? PRINT_PLOT_HEIGHT : PLOT_HEIGHT;
			if (width !== chart.plot.width || height !== chart.plot.height)
				chart.plot.setSize({width, height});
		}
		this.draw(this.charts);
	}

	repaint() {
		this.bars.forEach((bar) => bar.draw());
		for (const chart of this.charts.filter((one) => one.plot))
			chart.plot.redraw(false, true);
	}

	key(event) {
		const keys = {
			ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), ArrowUp: () => this.zoom(0.5, this.at), ArrowDown: () => this.zoom(2, this.at),
			'+': () => this.zoom(0.5, this.at), '=': () => this.zoom(0.5, this.at), '-': () => this.zoom(2, this.at),
			'0': () => this.reset(), Escape: () => this.reset(), Home: () => this.show(0, this.to - this.from),
			End: () => this.show(this.length - (this.to - this.from), this.length), ',': () => this.step(-1), '.': () => this.step(1),
		};

		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		event.preventDefault();
		keys[event.key]();
	}
}
