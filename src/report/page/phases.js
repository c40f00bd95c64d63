/* The phases that the job marked: a coloured bar above the charts, and a table of what each used. */

const BAR_LANES = 5, LANE_HEIGHT = 18;

/* A cell: the figure of the phase, and below it the span of its single calls. The program that wrote the page computed them. */
const phaseCell = (phase, amount, value, format) => {
	if (!amount || amount[value] === null)
		return element('td', {}, '\u2013');
	const span = [amount.least_call, amount.most_call].map(format);

	return element('td', {}, format(amount[value]), phase.calls.length < 2 || value === 'mean' || span[0] === span[1] ? null :
		element('span', {class: 'spread'}, `${span.join(' \u2013 ')} each`));
};

const phaseTime = (phase) => {
	const times = phase.calls.map(([start, stop]) => stop - start);

	return {total: phase.secs, least_call: Math.min(...times), most_call: Math.max(...times)};
};

const phaseRow = (view, run, phase, gpu) => {
	const swatch = element('span', {class: 'swatch area', 'aria-hidden': 'true'});
	const names = LAYOUT.phases[run.phaseList.some((one) => one.use[LAYOUT.phases.job.cpu]) ? 'job' : 'machine'], use = (name) => phase.use[names[name]];
	const from = phase.calls[0][0], to = phase.calls.reduce((last, [, stop]) => Math.max(last, stop), 0);

	swatch.style.setProperty('--swatch', `var(--c${phase.kind % PALETTE})`);
	return element('tr', {}, element('th', {scope: 'row'}, element('button', {type: 'button', class: 'entry', title: 'Show this time in the charts',
		onclick: () => view.show(from, to)}, swatch, element('span', {class: 'label'}, phase.name))),
	view.runs.length > 1 ? element('td', {}, run.label) : null, element('td', {}, String(phase.calls.length)), phaseCell(phase, phaseTime(phase), 'total', duration),
	phaseCell(phase, use('cpu'), 'total', duration), phaseCell(phase, use('cpu'), 'mean', figure), phaseCell(phase, use('memory'), 'max', mib),
	phaseCell(phase, use('read'), 'total', sizeOf), phaseCell(phase, use('written'), 'total', sizeOf), gpu ? phaseCell(phase, use('gpu'), 'mean', figure) : null);
};

const phaseTable = (view, runs) => {
	const gpu = runs.some((run) => run.figure('gpu', 'count') > 0);
	const heads = ['Phase', ...(view.runs.length > 1 ? ['Run'] : []), 'Calls', 'Time', 'CPU time', 'Cores', 'Memory, largest sample', 'Read from storage', 'Written to storage', ...(gpu ? ['GPUs'] : [])];

	return labelled(element('table', {class: 'numbers phases'},
		element('caption', {}, 'Each phase, as regions tells it. A sample that lies in several phases counts in each by its share of time.'),
		element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, runs.flatMap((run) => run.phaseList.map((phase) => ({run, phase}))).sort((a, b) => a.phase.kind - b.phase.kind).map(({run, phase}) => phaseRow(view, run, phase, gpu)))));
};

/* Stands below the charts, so that these are in the first screen. */
const phaseTableSection = (view) => {
	const marked = view.runs.filter((run) => run.phases.length);

	return marked.length ? element('section', {class: 'chart card', id: 'table-phases', 'aria-labelledby': 'title-table-phases'},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-table-phases'}, 'Use in each phase')),
		element('div', {class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Table of the phases'}, phaseTable(view, marked))) : null;
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
	return element('section', {class: 'chart card' + (view.runs.length > 1 ? '' : ' slim'), id: 'chart-phases', 'aria-labelledby': 'title-phases'},
		element('h2', {id: 'title-phases'}, 'Phases'),
		view.bars.map((bar) => element('div', {class: 'bar'}, view.runs.length > 1 ? element('h3', {}, bar.run.label) : null, bar.canvas)));
};
