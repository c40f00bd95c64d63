/* The phases that the job marked: a coloured bar above the charts, and a table of what each used. */

const BAR_LANES = 5, LANE_HEIGHT = 18, BLOCK = 256;

/* Sums over any range of time of a value that each sample holds for its interval. */
class Running {
	/* `amounts` are per interval; NaN counts as nothing. */
	constructor(run, amounts) {
		this.run = run;
		this.sums = new Float64Array(run.x.length + 1);
		for (let i = 0; i < run.x.length; i++) {
			this.sums[i + 1] = this.sums[i] + (amounts[i] === amounts[i] ? amounts[i] : 0);
		}
	}

	/* The sum until a time: a part of an interval counts in part. */
	until(time) {
		const {x} = this.run, i = this.run.firstFrom(time);

		if (i >= x.length)
			return this.sums[x.length];
		const begin = this.run.began(i), part = x[i] > begin ? Math.max(0, (time - begin) / (x[i] - begin)) : 0;
		return this.sums[i] + part * (this.sums[i + 1] - this.sums[i]);
	}

	between(from, to) {
		return this.until(to) - this.until(from);
	}
}

/* The largest value of any range of samples, without a look at each. */
class Largest {
	constructor(values) {
		this.values = values;
		this.blocks = Array.from({length: Math.ceil(values.length / BLOCK)}, (_, i) => extent(values, i * BLOCK, Math.min(values.length, (i + 1) * BLOCK))[1]);
	}

	of(first, end) {
		const firstBlock = Math.ceil(first / BLOCK), endBlock = Math.floor(end / BLOCK);

		if (firstBlock >= endBlock)
			return extent(this.values, first, end)[1];
		return [extent(this.values, first, firstBlock * BLOCK)[1], extent(this.blocks, firstBlock, endBlock)[1], extent(this.values, endBlock * BLOCK, end)[1]]
			.reduce((most, value) => value === value && !(value <= most) ? value : most, NaN);
	}
}

/* The use of resources in the calls of a phase: a list of each amount, with a value for each call. An amount is absent if no sample has it. */
const phaseUse = (run) => {
	const summing = (column) => {
		const values = run.values(column);
		return values && new Running(run, values);
	};
	const timed = (column) => {
		const values = run.values(column);
		return values && new Running(run, values.map((value, i) => value * (run.x[i] - run.began(i))));
	};
	const largest = (column) => {
		const values = run.values(column);
		return values && new Largest(values);
	};
	const from = LAYOUT.phases[run.column(LAYOUT.phases.job.cpu) ? 'job' : 'machine'];
	const cpu = timed(from.cpu), memory = largest(from.memory), read = summing(from.read), written = summing(from.written), gpu = run.figure('gpu', 'count') > 0 && timed(from.gpu);

	return run.phaseList.map((phase) => {
		const each = (value) => phase.calls.map(([start, stop]) => value(start, stop));
		const sum = (source) => source && each((start, stop) => source.between(start, stop));
		return {name: phase.name, kind: phase.kind, calls: phase.calls.length, from: phase.calls[0][0], to: phase.calls.reduce((last, [, stop]) => Math.max(last, stop), 0),
			time: each((start, stop) => stop - start), cpu: sum(cpu), read: sum(read), written: sum(written), gpu: sum(gpu),
			memory: memory && each((start, stop) => memory.of(run.firstFrom(start), run.firstFrom(stop + 1e-9)))};
	});
};

const total = (each) => each.reduce((sum, value) => sum + value, 0);
const known = (each) => each.filter((value) => value === value);

/* A cell: the sum or the largest of all calls, and below it the span of single calls. */
const phaseCell = (each, whole, format) => {
	if (!each || !known(each).length)
		return element('td', {}, '\u2013');
	const [low, high] = extent(each, 0, each.length).map(format);

	return element('td', {}, format(whole(known(each))), each.length < 2 || low === high ? null :
		element('span', {class: 'spread'}, `${low} \u2013 ${high} each`));
};

const phaseRow = (view, run, use, gpu) => {
	const swatch = element('span', {class: 'swatch area', 'aria-hidden': 'true'}), wall = total(use.time);
	const amount = (each, format) => phaseCell(each, total, format);

	swatch.style.setProperty('--swatch', `var(--c${use.kind % PALETTE})`);
	return element('tr', {}, element('th', {scope: 'row'}, element('button', {type: 'button', class: 'entry', title: 'Show this time in the charts',
		onclick: () => view.show(use.from, use.to)}, swatch, element('span', {class: 'label'}, use.name))),
	view.runs.length > 1 ? element('td', {}, run.label) : null, element('td', {}, String(use.calls)), amount(use.time, duration), amount(use.cpu, duration),
	element('td', {}, use.cpu && wall > 0 ? figure(total(use.cpu) / wall) : '\u2013'), phaseCell(use.memory, (each) => extent(each, 0, each.length)[1], mib),
	amount(use.read, sizeOf), amount(use.written, sizeOf), gpu ? element('td', {}, use.gpu && wall > 0 ? figure(total(use.gpu) / wall) : '\u2013') : null);
};

const phaseTable = (view, runs) => {
	const gpu = runs.some((run) => run.figure('gpu', 'count') > 0);
	const heads = ['Phase', ...(view.runs.length > 1 ? ['Run'] : []), 'Calls', 'Time', 'CPU time', 'Cores', 'Memory, peak', 'Read from storage', 'Written to storage', ...(gpu ? ['GPUs'] : [])];

	return element('div', {class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Table of the phases'}, element('table', {class: 'numbers phases'},
		element('caption', {}, 'Each phase, its calls added up. A sample that lies in several phases counts in each by its share of time.'),
		element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, runs.flatMap((run) => phaseUse(run).map((use) => ({run, use}))).sort((a, b) => a.use.kind - b.use.kind).map(({run, use}) => phaseRow(view, run, use, gpu)))));
};

/* A canvas with the calls of one run in lanes, below the same axis as the charts. */
class PhaseBar {
	constructor(view, run) {
		this.view = view;
		this.run = run;
		this.lanes = Math.min(BAR_LANES, 1 + run.phases.reduce((most, {lane}) => Math.max(most, lane), 0));
		this.canvas = element('canvas', {role: 'img', 'aria-label': `When each phase ran: ${run.phaseList.map(({name, calls}) => `${name} from ${clock(calls[0][0], 0.1)}`).join(', ')}`});
		this.canvas.addEventListener('mousemove', (event) => this.hover(event));
		this.canvas.addEventListener('click', (event) => {
			const found = this.under(event);
			if (found)
				view.show(found.start, found.stop);
		});
	}

	scale(width) {
		const inner = Math.max(1, width - AXIS_WIDTH - RIGHT_ROOM), length = this.view.to - this.view.from;
		return (secs) => AXIS_WIDTH + (secs - this.view.from) / length * inner;
	}

	under(event) {
		const {left, top, width} = this.canvas.getBoundingClientRect(), x = this.scale(width), at = event.clientX - left, lane = Math.floor((event.clientY - top) / LANE_HEIGHT);
		return this.run.phases.find((phase) => phase.lane === lane && x(phase.start) <= at + 1 && at - 1 <= x(phase.stop));
	}

	hover(event) {
		const found = this.under(event);
		this.canvas.title = found ? `${found.name}: ${clock(found.start, 0.1)} \u2013 ${clock(found.stop, 0.1)}, ${duration(found.stop - found.start)}` : '';
		this.canvas.style.cursor = found ? 'pointer' : 'default';
	}

	draw(fixed) {
		const width = fixed || this.canvas.parentElement.clientWidth, height = this.lanes * LANE_HEIGHT, ratio = devicePixelRatio || 1;
		const x = this.scale(width), right = width - RIGHT_ROOM, ctx = this.canvas.getContext('2d');
		const colours = Array.from({length: PALETTE}, (_, i) => colour('c' + i)), ink = colour('on-phase');
		const last = [];

		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = width + 'px';
		this.canvas.style.height = height + 'px';
		ctx.scale(ratio, ratio);
		ctx.font = `11px ${FONT}`;
		ctx.textBaseline = 'middle';
		ctx.fillStyle = colour('track');
		ctx.fillRect(AXIS_WIDTH, 0, right - AXIS_WIDTH, height - 2);
		for (const phase of this.run.phases) {
			const from = Math.max(AXIS_WIDTH, x(phase.start)), to = Math.min(right, x(phase.stop)), top = phase.lane * LANE_HEIGHT;
			if (phase.lane >= BAR_LANES || to <= AXIS_WIDTH || from >= right || (to - from < 1 && from - (last[phase.lane] || 0) < 1))
				continue;
			last[phase.lane] = from;
			ctx.fillStyle = colours[phase.kind % PALETTE];
			ctx.fillRect(from, top, Math.max(1, to - from - 0.5), LANE_HEIGHT - 2);
			if (to - from > 18 && ctx.measureText(phase.name).width + 8 < to - from) {
				ctx.fillStyle = ink;
				ctx.fillText(phase.name, from + 4, top + LANE_HEIGHT / 2 - 0.5);
			}
		}
	}
}

const phaseSection = (view) => {
	const marked = view.runs.filter((run) => run.phases.length);

	if (!marked.length)
		return null;
	view.bars = marked.map((run) => new PhaseBar(view, run));
	return element('section', {class: 'chart card', id: 'chart-phases', 'aria-labelledby': 'title-phases'},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-phases'}, 'Phases')),
		view.bars.map((bar) => element('div', {class: 'bar'}, view.runs.length > 1 ? element('h3', {}, bar.run.label) : null, bar.canvas)), phaseTable(view, marked));
};
