/* Builds the page of a workflow: its steps in lanes, what was in use, the critical path, rules and a table of all steps. */

const begun = performance.now();
const report = JSON.parse(document.getElementById('data').textContent);
const flow = report.workflow;
/* On a phone a row is as high as ten. */
const ROWS_AT_ONCE = matchMedia('(max-width: 640px)').matches ? 25 : 200;
const NEEDS_SHOWN = 20;
const COLOURED = 8, LANE_MOST = 22, LANE_LEAST = 4, LANES_HIGH = 480, AREA_HIGH = 130, TEXT_LEFT = 4, PATH_MOST = 50;
const FAINT = 0.35;

/* A task of Nextflow names its process: "align (sample 3)". */
const nameOf = ({rule, task}) => !task ? rule : task === rule || task.startsWith(`${rule} (`) ? task : `${rule} (${task})`;
const unknown = (value, format) => value === null || value === undefined ? '\u2013' : format(value);
const askedFor = (value, format) => value === null || value === undefined ? '' : `, ${format(value)} asked for`;
const inMib = (value) => withUnit(value, 'MiB');
const isGood = (step) => step.outcome === 'ok';
const counted = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

flow.steps.forEach((step, index) => {
	step.index = index;
	step.end_secs = step.start_secs + step.wall_secs;
	step.name = nameOf(step);
	step.used = step.cores_mean ?? 0;
	step.memory = step.memory_peak_mib ?? 0;
	/* One piece if its course is unknown, else one for each part of its time. */
	const parts = step.course ? step.course.cores.length : 1;
	step.pieces = Array.from({length: parts}, (_, i) => ({from: step.start_secs + i * step.wall_secs / parts, to: step.start_secs + (i + 1) * step.wall_secs / parts,
		used: step.course?.cores[i] ?? step.used, memory: step.course?.memory_mib[i] ?? step.memory}));
});

const hasCourses = flow.steps.some((step) => step.course);

/* The first rules have a colour of their own, the rest share grey. */
const colourOf = new Map(flow.rules.slice(0, COLOURED).map((rule, i) => [rule.rule, 'c' + i]));
const colourName = (step) => colourOf.get(step.rule) || 'machine';

/* Lanes of all hosts below each other. */
let lanes = 0;
for (const host of flow.hosts) {
	host.first = lanes;
	lanes += host.slots;
}
const firstLane = new Map(flow.hosts.map((host) => [host.host, host.first]));
const laneOf = (step) => firstLane.get(step.host) + step.slot;

/* ---- the shown time ---- */

const shown = {from: 0, to: Math.max(flow.wall_secs, 0.001)};
let chosen = flow.path[flow.path.length - 1];

const show = (from, to) => {
	const length = Math.min(Math.max(to - from, flow.wall_secs / 5000, 0.001), Math.max(flow.wall_secs, 0.001));

	shown.from = Math.max(0, Math.min(from, Math.max(flow.wall_secs, 0.001) - length));
	shown.to = shown.from + length;
	draw();
};
const zoom = (factor, at = (shown.from + shown.to) / 2) => show(at - (at - shown.from) * factor, at + (shown.to - at) * factor);
const pan = (part) => show(shown.from + part * (shown.to - shown.from), shown.to + part * (shown.to - shown.from));

/* ---- light and dark ---- */

const isDark = () => (document.documentElement.dataset.theme || (systemTheme.matches ? 'dark' : 'light')) === 'dark';
const themeButton = element('button', {type: 'button', class: 'plain', onclick: () => {
	document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
	nameTheme();
	draw();
}});
const nameTheme = () => {
	themeButton.textContent = isDark() ? 'Light' : 'Dark';
	themeButton.setAttribute('aria-label', `${isDark() ? 'Light' : 'Dark'}: switch the colours`);
};
systemTheme.addEventListener('change', () => {
	nameTheme();
	draw();
});

/* ---- answers ---- */

const card = (title, kind, ...content) => element('section', {class: 'card ' + kind}, element('h2', {}, title), ...content);
const note = (...content) => element('p', {class: 'note'}, ...content);
const headline = (text, icon) => element('p', {class: 'headline'}, icon ? svg(ICONS[icon]) : null, element('span', {}, text));
const bar = (label, value, limit, text) => {
	const fill = element('span', {class: 'meter-fill'});

	fill.style.width = `${limit > 0 ? Math.min(100, 100 * value / limit) : 0}%`;
	return element('div', {class: 'meter'}, element('div', {class: 'meter-head'}, element('span', {class: 'meter-label'}, label), element('span', {}, text)),
		limit > 0 ? element('span', {class: 'meter-bar', 'aria-hidden': 'true'}, fill) : null);
};
const last = flow.steps.filter((step) => step.is_last_attempt && !isGood(step));
const mood = flow.damaged.length && !last.length ? 'unknown' : last.length ? 'bad' : 'good';
const total = (key) => flow.hosts.every((host) => host[key] !== null) ? flow.hosts.reduce((sum, host) => sum + host[key], 0) : null;
const cores = total('cores'), memory = total('memory_mib');
const tellNeeds = flow.steps.filter((step) => step.needs).length;
/* The host on which the steps took the largest part of the memory. */
const taken = (host) => host.memory_most_mib / (host.memory_mib || Infinity);
const fullest = flow.hosts.reduce((most, host) => taken(host) > taken(most) ? host : most);
const asked = flow.rules.reduce((sum, rule) => sum + (rule.asked_core_secs ?? 0), 0), idle = flow.rules.reduce((sum, rule) => sum + (rule.idle_core_secs ?? 0), 0);
const askedGib = flow.rules.reduce((sum, rule) => sum + (rule.asked_gib_hours ?? 0), 0), idleGib = flow.rules.reduce((sum, rule) => sum + (rule.idle_gib_hours ?? 0), 0);

const answers = element('div', {class: 'answers'},
	card('Did it work?', 'answer ' + mood, headline(last.length ? `${counted(last.length, 'step')} failed` : mood === 'good' ? (flow.failed ? `All ended well, after ${counted(flow.repeated, 'repeat')}` : 'All steps ended well') : 'No step is known to have failed', mood),
		note(`${counted(flow.steps.length, 'step')}, ${flow.failed} failed, ${flow.repeated} repeated` + (flow.damaged.length ? `, ${counted(flow.damaged.length, 'recording')} could not be read` : ''))),
	card('How long did it take?', '', headline(duration(flow.wall_secs)),
		note(`The critical path has ${counted(flow.path.length, 'step')}, and ${duration(flow.path_secs)} inside them. ${tellNeeds ? `The needs of ${tellNeeds} of ${counted(flow.steps.length, 'step')} are known. ` : ''}At most ${counted(flow.slots, 'step')} ran at once.`)),
	card('How much stood idle?', '', headline(asked ? `${percent(idle / asked)} of the cores asked for` : 'No step tells a request'),
		note(asked ? `${duration(idle)} of ${duration(asked)} core time` + (askedGib ? `; ${percent(idleGib / askedGib)} of the memory` : '') : 'The engine can tell what it asked for: cores and memory of each step.')),
	card('How long would it have taken?', 'wide', element('dl', {class: 'facts'}, flow.estimates.map((one) => element('div', {class: 'fact'}, element('dt', {}, one.what),
		element('dd', {}, element('strong', {}, duration(one.wall_secs)), one.wall_secs < 0.995 * flow.wall_secs ? ` instead of ${duration(flow.wall_secs)}` : ', as it was', note(`Estimate: ${one.assumption}.`)))))),
	card('How much did it use?', 'wide', element('div', {class: 'meters'},
		bar('Cores', flow.cpu_secs / flow.wall_secs, cores, flow.cpu_secs === null ? 'unknown' : `${figure(flow.cpu_secs / flow.wall_secs)} on average` + (cores ? ` of ${figure(cores)}` : '')),
		bar('Memory', fullest.memory_most_mib, fullest.memory_mib, `at most ${inMib(fullest.memory_most_mib)}` + (fullest.memory_mib ? ` of ${inMib(fullest.memory_mib)}` : '') + (flow.hosts.length > 1 && fullest.host ? ` on ${fullest.host}` : '')))));

/* ---- lanes ---- */

const where = element('output', {class: 'where', 'aria-live': 'off'});
const control = (name, label, act) => element('button', {type: 'button', class: 'plain', 'aria-label': label, title: label, onclick: act}, name);
const toolbar = element('div', {class: 'toolbar', role: 'toolbar', 'aria-label': 'Shown time'}, where, element('span', {class: 'tools'},
	control('\u2212', 'Zoom out', () => zoom(2)), control('+', 'Zoom in', () => zoom(0.5)), control('\u2190', 'Earlier', () => pan(-0.3)), control('\u2192', 'Later', () => pan(0.3)),
	control('Reset', 'Reset: show the whole workflow', () => show(0, flow.wall_secs))));

const canvasOf = (label) => element('canvas', {role: 'img', 'aria-label': label});
const lanesCanvas = canvasOf(`Steps in ${counted(lanes, 'lane')}. The table below has all of them.`);
const coresCanvas = canvasOf('Cores in use by rule, and the cores that were available');
const memoryCanvas = canvasOf('Memory of the steps by rule, and the memory that was available');

/* Sets the size of a canvas to that of its place. Returns a context whose unit is a CSS pixel. */
const prepare = (canvas, height) => {
	const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1, context = canvas.getContext('2d');

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	context.scale(ratio, ratio);
	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	return {context, width, height, x: (secs) => (secs - shown.from) / (shown.to - shown.from) * width};
};

const laneHeight = () => Math.max(LANE_LEAST, Math.min(LANE_MOST, Math.floor(LANES_HIGH / Math.max(lanes, 1))));

const drawStep = ({context, x}, step, high) => {
	const left = x(step.start_secs), wide = Math.max(1, x(step.end_secs) - left - 0.5), top = laneOf(step) * high;
	const gap = high > 8 ? 2 : 0;

	context.globalAlpha = step.on_path || !isGood(step) || step.index === chosen ? 1 : FAINT;
	context.fillStyle = colour(colourName(step));
	context.fillRect(left, top + gap / 2, wide, high - gap);
	context.globalAlpha = 1;
	if (!isGood(step)) {
		context.fillStyle = colour('bad');
		context.fillRect(left, top + high - gap / 2 - Math.max(2, high / 5), wide, Math.max(2, high / 5));
	}
	if (step.index === chosen) {
		context.strokeStyle = colour('ink');
		context.lineWidth = 2;
		context.strokeRect(left + 1, top + 1, Math.max(1, wide - 2), high - 2);
	}
	if (high >= 14 && wide > 30) {
		const begin = Math.max(left, 0) + TEXT_LEFT, room = left + wide - begin - TEXT_LEFT;

		context.fillStyle = colour(step.on_path || !isGood(step) || step.index === chosen ? 'on-phase' : 'ink');
		context.save();
		context.beginPath();
		context.rect(begin, top, room, high);
		context.clip();
		context.fillText(step.name, begin, top + high / 2);
		context.restore();
	}
};

const drawLanes = () => {
	const high = laneHeight(), surface = prepare(lanesCanvas, Math.max(1, lanes) * high);

	surface.context.fillStyle = colour('grid');
	for (const host of flow.hosts)
		if (host.first)
			surface.context.fillRect(0, host.first * high - 0.5, surface.width, 1);
	for (const step of flow.steps)
		if (step.end_secs >= shown.from && step.start_secs <= shown.to)
			drawStep(surface, step, high);
};

/* The mean use in each pixel of the shown time, rule by rule. */
const stacks = (width, key) => {
	const found = new Map(), each = (shown.to - shown.from) / width;

	for (const step of flow.steps) {
		const name = colourName(step);
		for (const piece of step.pieces) {
			const first = Math.max(0, Math.floor((piece.from - shown.from) / each)), end = Math.min(width - 1, Math.floor((piece.to - shown.from) / each));
			if (end < first || !piece[key])
				continue;
			if (!found.has(name))
				found.set(name, new Float64Array(width));
			const of = found.get(name);
			for (let i = first; i <= end; i++)
				of[i] += piece[key] * Math.max(0, Math.min(piece.to, shown.from + (i + 1) * each) - Math.max(piece.from, shown.from + i * each)) / each;
		}
	}
	return found;
};

const drawStack = (canvas, key, limit, format) => {
	const {context, width, height} = prepare(canvas, AREA_HIGH), found = stacks(width, key), sums = new Float64Array(width);
	const order = [...colourOf.values(), 'machine'].filter((name) => found.has(name));

	for (const name of order)
		found.get(name).forEach((value, i) => sums[i] += value);
	const used = sums.reduce((most, value) => Math.max(most, value), 0);
	/* A limit far above all use would leave nothing to see. */
	const most = Math.max(used * 1.15, limit && limit < 4 * used ? limit * 1.08 : 0, 1e-9);
	const base = new Float64Array(width);
	for (const name of order) {
		context.fillStyle = colour(name);
		const of = found.get(name);
		for (let i = 0; i < width; i++) {
			const top = (base[i] + of[i]) / most * height, bottom = base[i] / most * height;
			if (of[i])
				context.fillRect(i, height - top, 1, top - bottom);
			base[i] += of[i];
		}
	}
	if (limit && limit <= most) {
		context.fillStyle = colour('limit');
		context.fillRect(0, height - limit / most * height - 1, width, 2);
	}
	canvas.parentElement.previousElementSibling.textContent = `at most ${format(used)}` + (limit ? ` of ${format(limit)} (line: available${limit <= most ? '' : ', far above'})` : '');
};

const draw = () => {
	drawLanes();
	drawStack(coresCanvas, 'used', cores, figure);
	drawStack(memoryCanvas, 'memory', memory, inMib);
	const step = (shown.to - shown.from) / 200;
	where.textContent = `${clock(shown.from, Math.max(step, 0.1))} \u2013 ${clock(shown.to, Math.max(step, 0.1))}`;
};

const stepAt = (event) => {
	const box = lanesCanvas.getBoundingClientRect(), lane = Math.floor((event.clientY - box.top) / laneHeight());
	const secs = shown.from + (event.clientX - box.left) / box.width * (shown.to - shown.from), near = 2 * (shown.to - shown.from) / box.width;

	return flow.steps.find((step) => laneOf(step) === lane && step.start_secs - near <= secs && secs <= step.end_secs + near);
};

/* ---- the chosen step ---- */

const details = element('section', {class: 'card details', id: 'step', 'aria-live': 'polite', 'aria-label': 'The chosen step'});
const stepButton = (index) => element('button', {type: 'button', class: 'link', onclick: () => choose(index)}, flow.steps[index].name);

const choose = (index) => {
	const step = flow.steps[index];

	chosen = index;
	details.replaceChildren(element('h2', {}, `Step: ${step.name}`), element('dl', {class: 'facts'},
		fact('Outcome', isGood(step) ? 'ended well' : `${step.outcome}: ${step.end || 'no end is recorded'}`), fact('Time', `${duration(step.wall_secs)}, from ${clock(step.start_secs, 0.1)}`),
		fact('Cores', `${unknown(step.cores_mean, figure)} on average, ${unknown(step.cores_max, figure)} at most${askedFor(step.cores_asked, figure)}`),
		fact('Memory', `${unknown(step.memory_peak_mib, inMib)} at most${askedFor(step.memory_asked_mib, inMib)}`),
		fact('CPU time', step.cpu_secs === null ? '' : duration(step.cpu_secs)), fact('Bottleneck', (step.bottleneck || '').replaceAll('_', ' ').replace(/\b[cg]pu\b/, (word) => word.toUpperCase())),
		fact('Attempt', step.attempt > 1 || !step.is_last_attempt ? `${step.attempt}${step.is_last_attempt ? '' : ', and was repeated'}` : ''),
		fact('Critical path', step.on_path ? 'on it' : `${duration(step.slack_secs)} of slack at least`),
		fact('Rank', step.rank === null ? '' : String(step.rank)),
		fact('Slot', `${step.slot + 1}${step.host ? ` of ${step.host}` : ''}`),
		step.needs?.length ? fact('Needs', element('span', {}, step.needs.slice(0, NEEDS_SHOWN).flatMap((need, i) => [i ? ', ' : '', stepButton(need)]),
			step.needs.length > NEEDS_SHOWN ? ` and ${step.needs.length - NEEDS_SHOWN} more` : '', '')) : [], step.waited_for_slot ? fact('Ready', `${duration(step.waited_secs)} before it began: no slot was free`) : [],
		step.before === null ? [] : fact('Began', element('span', {}, `${duration(Math.max(0, step.gap_secs))} after `, stepButton(step.before)))),
		...(step.recording ? [note('Its own page: ', element('code', {}, `resource-tracker report -o step.html '${step.recording.replaceAll("'", "'\\''")}'`))] : []));
	draw();
};

/* Arrow keys go along the lanes of the chart. */
const neighbour = (sign) => {
	const lane = laneOf(flow.steps[chosen]);

	for (let i = chosen + sign; flow.steps[i]; i += sign)
		if (laneOf(flow.steps[i]) === lane)
			return i;
	return chosen;
};
const beside = (sign) => {
	const step = flow.steps[chosen], near = flow.steps.filter((one) => laneOf(one) === laneOf(step) + sign);

	return near.length ? near.reduce((best, one) => Math.abs(one.start_secs - step.start_secs) < Math.abs(best.start_secs - step.start_secs) ? one : best).index : chosen;
};
const KEYS = {ArrowLeft: () => choose(neighbour(-1)), ArrowRight: () => choose(neighbour(1)), ArrowUp: () => choose(beside(-1)), ArrowDown: () => choose(beside(1)),
	'+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => show(0, flow.wall_secs)};

const lanePlace = element('div', {class: 'lanes', tabindex: '0', role: 'group', 'aria-label': 'Steps in lanes. Arrow keys choose a step, plus and minus zoom, 0 shows all.',
	onclick: (event) => {
		const step = stepAt(event);
		if (step)
			choose(step.index);
	}, onkeydown: (event) => {
		if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		KEYS[event.key]();
	}}, lanesCanvas);
lanePlace.addEventListener('wheel', (event) => {
	if (!event.ctrlKey)
		return;
	event.preventDefault();
	const box = lanesCanvas.getBoundingClientRect();
	zoom(event.deltaY > 0 ? 1.25 : 0.8, shown.from + (event.clientX - box.left) / box.width * (shown.to - shown.from));
}, {passive: false});
lanePlace.addEventListener('mousemove', (event) => {
	const step = stepAt(event);
	lanePlace.title = step ? `${step.name}: ${duration(step.wall_secs)}, ${unknown(step.cores_mean, figure)} cores, ${unknown(step.memory_peak_mib, inMib)}` : '';
});

const swatch = (name) => {
	const made = element('span', {class: 'swatch area'});

	made.style.setProperty('--swatch', `var(--${name})`);
	return made;
};
const legend = element('div', {class: 'readout'}, [...colourOf].map(([rule, name]) => element('span', {class: 'entry still'}, swatch(name), rule)),
	flow.rules.length > COLOURED ? element('span', {class: 'entry still'}, swatch('machine'), counted(flow.rules.length - COLOURED, 'other rule')) : null);
const chart = (id, title, method, place) => element('section', {class: 'chart card', id: 'chart-' + id, 'aria-labelledby': 'title-' + id},
	element('div', {class: 'chart-head'}, element('h2', {id: 'title-' + id}, title), element('p', {class: 'method'}, method)), place);
const area = (canvas) => [element('p', {class: 'note'}), element('div', {}, canvas)];

/* ---- tables ---- */

const table = (title, method, heads, rows) => labelled(element('table', {class: 'numbers'}, element('caption', {}, element('strong', {}, title), method),
	element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))), element('tbody', {}, rows)));
const row = (first, cells) => element('tr', {}, element('th', {scope: 'row'}, first), cells.map((cell) => element('td', {}, cell)));
const scrolled = (title, ...content) => element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title}, content);
const part = (whole, of) => whole ? percent(of / whole) : '\u2013';

const longest = [...flow.path].sort((a, b) => flow.steps[b].wall_secs - flow.steps[a].wall_secs).slice(0, PATH_MOST);
const pathTable = table('The critical path', counted(flow.path.length, 'step') + (flow.path.length > PATH_MOST ? `, of which the ${PATH_MOST} longest are shown` : ''),
	['Step', 'Began', 'Time', 'After the one before', 'Cores', 'Asked', 'Memory'], flow.path.filter((index) => longest.includes(index)).map((index) => {
		const step = flow.steps[index];
		return row(stepButton(index), [clock(step.start_secs, 0.1), duration(step.wall_secs), duration(Math.max(0, step.gap_secs)), unknown(step.cores_mean, figure), unknown(step.cores_asked, figure), unknown(step.memory_peak_mib, inMib)]);
	}));
const rulesTable = table('Rules', 'Time on the critical path, and the part of their request that stood idle',
	['Rule', 'Steps', 'Failed', 'Repeated', 'Time', 'On the path', 'CPU time', 'Peak of memory', 'Cores idle', 'Memory idle'], flow.rules.slice(0, ROWS_AT_ONCE).map((rule) =>
		row(rule.rule, [rule.steps, rule.failed, rule.repeated, duration(rule.wall_secs), duration(rule.path_secs), unknown(rule.cpu_secs, duration), unknown(rule.memory_peak_mib, inMib),
			part(rule.asked_core_secs, rule.idle_core_secs), part(rule.asked_gib_hours, rule.idle_gib_hours)])));

const spread = (one, format) => one.max === null ? '\u2013' : [one.min, one.median, one.max].map(format).join(' / ');
const straggler = (ranks) => {
	const step = flow.steps[ranks.straggler];
	return ranks.straggler === null ? 'none stands out' : element('span', {}, element('button', {type: 'button', class: 'link', onclick: () => choose(step.index)}, `rank ${step.rank}` + (step.host ? ` on ${step.host}` : '')),
		`: ${ranks.straggler_by === 'cpu_secs' ? 'CPU time' : 'time'} ${figure(ranks.straggler_over_pct)} % over the median`);
};
const ranksUseGpus = flow.ranks.some((one) => one.gpu_mean.max !== null);
const gpusOfRanks = (one) => ranksUseGpus ? [spread(one.gpu_mean, figure), spread(one.gpu_held_idle_secs, duration)] : [];
const ranksTable = flow.ranks.length ? table('Ranks', 'Least / median / most, and the one that the others waited for',
	['Program', 'Ranks', 'Straggler', 'Time', 'CPU time', 'Peak of memory', ...(ranksUseGpus ? ['GPUs at work', 'GPUs held without work'] : [])],
	flow.ranks.slice(0, ROWS_AT_ONCE).map((one) => row(nameOf(one), [one.ranks, straggler(one), spread(one.wall_secs, duration), spread(one.cpu_secs, duration), spread(one.memory_peak_mib, inMib), ...gpusOfRanks(one)]))) : null;

const COLUMNS = [['Step', (step) => step.name, (step) => stepButton(step.index)], ['Began', (step) => step.start_secs, (step) => clock(step.start_secs, 0.1)],
	['Outcome', (step) => step.outcome, (step) => (step.attempt > 1 ? `${step.outcome}, attempt ${step.attempt}` : step.outcome)], ['Time', (step) => step.wall_secs, (step) => duration(step.wall_secs)],
	['Slack', (step) => step.slack_secs, (step) => (step.on_path ? 'on the path' : duration(step.slack_secs))], ['Cores', (step) => step.cores_mean, (step) => unknown(step.cores_mean, figure)],
	['Cores asked', (step) => step.cores_asked, (step) => unknown(step.cores_asked, figure)], ['Memory', (step) => step.memory_peak_mib, (step) => unknown(step.memory_peak_mib, inMib)],
	['Memory asked', (step) => step.memory_asked_mib, (step) => unknown(step.memory_asked_mib, inMib)]];
const KINDS = {'all steps': () => true, 'failed': (step) => !isGood(step), 'repeated': (step) => step.attempt > 1, 'on the critical path': (step) => step.on_path};
const list = {column: 1, down: false, text: '', kind: 'all steps', rows: ROWS_AT_ONCE};

const compareSteps = (a, b) => {
	const value = COLUMNS[list.column][1], [x, y] = [value(a), value(b)], sign = list.down ? -1 : 1;

	/* Unknown values come last. */
	if (x === null || y === null)
		return (x === null) - (y === null) || a.index - b.index;
	return sign * (typeof x === 'string' ? x.localeCompare(y, undefined, {numeric: true}) : x - y) || a.index - b.index;
};
const listCaption = element('caption', {'aria-live': 'polite'}), listBody = element('tbody', {});
const heads = COLUMNS.map(([name], i) => element('th', {scope: 'col'}, element('button', {type: 'button', class: 'sort', onclick: () => sortBy(i, list.column === i && !list.down)}, name)));
const more = element('button', {type: 'button', class: 'plain', onclick: () => {
	list.rows += ROWS_AT_ONCE;
	fillList();
}}, 'More rows');
const stepTable = element('table', {class: 'numbers stacks sorted'}, listCaption, element('thead', {}, element('tr', {}, heads)), listBody);

const fillList = () => {
	const found = flow.steps.filter((step) => KINDS[list.kind](step) && step.name.toLowerCase().includes(list.text)).sort(compareSteps);

	listCaption.textContent = `${found.length} of ${counted(flow.steps.length, 'step')}` + (found.length > list.rows ? `; the first ${list.rows} are shown` : '');
	listBody.replaceChildren(...found.slice(0, list.rows).map((step) => {
		const made = row(COLUMNS[0][2](step), COLUMNS.slice(1).map(([, , cell]) => cell(step)));
		[...made.cells].forEach((cell, i) => cell.dataset.label = COLUMNS[i][0]);
		return made;
	}));
	more.hidden = found.length <= list.rows;
	heads.forEach((head, i) => head.setAttribute('aria-sort', i !== list.column ? 'none' : list.down ? 'descending' : 'ascending'));
};
const sortBy = (column, down) => {
	Object.assign(list, {column, down, rows: ROWS_AT_ONCE});
	order.value = `${column} ${down}`;
	fillList();
};
const choice = (label, options, act) => {
	const made = element('select', {onchange: () => act(made.value)}, options.map(([value, text]) => element('option', {value}, text)));
	return [element('label', {}, label, ' ', made), made];
};
const [kindLabel] = choice('Show', Object.keys(KINDS).map((name) => [name, name]), (name) => {
	Object.assign(list, {kind: name, rows: ROWS_AT_ONCE});
	fillList();
});
const [orderLabel, order] = choice('Order', COLUMNS.flatMap(([name], i) => [[`${i} false`, `${name}, upwards`], [`${i} true`, `${name}, downwards`]]), (value) =>
	sortBy(Number(value.split(' ')[0]), value.endsWith('true')));
const search = element('input', {type: 'search', oninput: () => {
	Object.assign(list, {text: search.value.toLowerCase(), rows: ROWS_AT_ONCE});
	fillList();
}});
const listCard = element('section', {class: 'card', id: 'steps'}, element('h2', {}, 'All steps'),
	element('div', {class: 'filters'}, element('label', {}, 'Name has ', search), kindLabel, orderLabel), scrolled('All steps', stepTable), more);
const damagedCard = flow.damaged.length ? element('section', {class: 'card'}, element('h2', {}, `${counted(flow.damaged.length, 'recording')} could not be read`),
	element('ul', {class: 'note'}, flow.damaged.slice(0, ROWS_AT_ONCE).map((why) => element('li', {}, why))), flow.damaged.length > ROWS_AT_ONCE ? note(`and ${flow.damaged.length - ROWS_AT_ONCE} more`) : null) : null;

/* ---- the page ---- */

document.title = `${report.title} \u2013 resource-tracker`;
nameTheme();
document.getElementById('report').append(
	element('header', {class: 'head'}, element('div', {}, element('h1', {}, report.title),
		element('p', {class: 'subtitle'}, `Workflow of ${counted(flow.steps.length, 'step')}  \u00b7  ${localMoment(flow.began)}`)), themeButton),
	element('main', {}, answers, element('section', {class: 'charts', 'aria-label': 'Charts'}, toolbar,
		chart('lanes', 'Steps', 'One lane for each slot. Strong: on the critical path. Red below: failed. Choose a step to see its figures.', [legend, element('div', {class: 'tall'}, lanePlace)]),
		details, chart('cores', 'Cores in use', hasCourses ? 'Cores of the steps over time, by rule. A short step counts with its mean.' : 'Mean cores of each step while it ran, by rule.', area(coresCanvas)),
		chart('memory', 'Memory', hasCourses ? 'Memory of the steps over time, by rule. A short step counts with its peak.' : 'Peaks of the steps that ran at the same time: the sum is an upper bound.', area(memoryCanvas))),
	element('section', {class: 'card'}, scrolled('Critical path', pathTable)), ranksTable ? element('section', {class: 'card', id: 'ranks'}, scrolled('Ranks', ranksTable)) : null,
	element('section', {class: 'card'}, scrolled('Rules', rulesTable)), listCard, damagedCard),
	element('footer', {}, `resource-tracker ${report.version}, page made ${localMoment(report.made)}`));
fillList();
sortBy(list.column, list.down);
choose(chosen);

let resized = 0;
new ResizeObserver(() => {
	cancelAnimationFrame(resized);
	resized = requestAnimationFrame(draw);
}).observe(lanePlace);

document.documentElement.dataset.since = performance.now().toFixed(1);
document.documentElement.dataset.ready = (performance.now() - begun).toFixed(1);
