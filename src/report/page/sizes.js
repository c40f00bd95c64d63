/*
 * The peaks of earlier runs by the size of their input, with what the next run is advised to request. The SVG keeps its scale: places are
 * in percent, so that it fits any width, and only the line and its band are stretched.
 */

const TICKS_MOST = 6;
/* From this range on, an axis counts factors: each tick doubles. */
const WIDE_RANGE = 30;

const drawn = (tag, properties, ...children) => {
	const made = document.createElementNS('http://www.w3.org/2000/svg', tag);

	for (const [name, value] of Object.entries(properties))
		made.setAttribute(name, value);
	made.append(...children);
	return made;
};

/* Returns {place, ticks} of an axis for values in bytes; place() is the part of its length in percent. */
const sizeAxis = (values) => {
	const least = Math.min(...values), most = Math.max(...values) * 1.04, isWide = least > 0 && most > WIDE_RANGE * least;

	if (isWide) {
		const from = Math.log2(least) - 0.2, to = Math.log2(most), every = Math.ceil((to - from) / TICKS_MOST);
		const first = every * Math.ceil(from / every);

		return {place: (value) => 100 * (Math.log2(Math.max(value, 1)) - from) / (to - from),
			ticks: Array.from({length: 1 + Math.floor((to - first) / every)}, (_, i) => 2 ** (first + i * every))};
	}
	const step = 2 ** Math.ceil(Math.log2(most / TICKS_MOST));
	return {place: (value) => 100 * value / most, ticks: Array.from({length: 1 + Math.floor(most / step)}, (_, i) => i * step)};
};

const sizesPlot = (sizes, x, y) => {
	const at = ([bytes, peak]) => [x.place(bytes), 100 - y.place(peak * MIB)].map((value) => value.toFixed(2));
	const path = (points) => points.map((point) => at(point).join(' ')).join(' L');
	const advised = sizes.line.map(([bytes, , most]) => [bytes, most]), usual = sizes.line.map(([bytes, half]) => [bytes, half]);
	const spot = (look, radius) => ([bytes, peak]) => drawn('circle', {class: look, cx: at([bytes, peak])[0] + '%', cy: at([bytes, peak])[1] + '%', r: radius},
		drawn('title', {}, `${sizeOf(bytes)} of input: ${look === 'size-kill' ? 'killed with' : 'peak'} ${mib(peak)}`));
	const grid = [...x.ticks.map((value) => ({x1: x.place(value), x2: x.place(value), y1: 0, y2: 100})), ...y.ticks.map((value) => ({x1: 0, x2: 100, y1: 100 - y.place(value), y2: 100 - y.place(value)}))];

	return drawn('svg', {class: 'size-plot', role: 'img', 'aria-label': `Memory by the size of the input: ${sizes.runs.length} runs, and ${sizes.kills.length} killed for lack of memory. ` +
		`The advice goes from ${mib(advised[0][1])} for ${sizeOf(advised[0][0])} of input to ${mib(advised.at(-1)[1])} for ${sizeOf(advised.at(-1)[0])}.`},
	...grid.map((line) => drawn('line', {class: 'size-grid', ...Object.fromEntries(Object.entries(line).map(([name, value]) => [name, value.toFixed(2) + '%']))})),
	drawn('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none', width: '100%', height: '100%'},
		drawn('path', {class: 'size-band', d: `M${path(advised)} L${path([...usual].reverse())} Z`}),
		drawn('path', {class: 'size-line', d: 'M' + path(advised), 'vector-effect': 'non-scaling-stroke'})),
	...sizes.runs.map(spot('size-run', 3)), ...sizes.newest.map(spot('size-newest', 5.5)), ...sizes.kills.map(spot('size-kill', 4)));
};

/* Labels stand beside the plot, as text of the page, at the places of the ticks. */
const tickLabels = (axis, look) => drawn('svg', {class: look, 'aria-hidden': 'true'}, ...axis.ticks.map((value) => {
	const place = axis.place(value);

	return look === 'size-x' ? drawn('text', {x: place.toFixed(2) + '%', y: 14, 'text-anchor': 'middle'}, sizeOf(value))
		: drawn('text', {x: '100%', y: (100 - place).toFixed(2) + '%', dy: place > 96 ? 10 : place < 3 ? 0 : 4, 'text-anchor': 'end'}, sizeOf(value));
}));

const sizesSection = (run) => {
	const sizes = run.raw.sizes;

	if (!sizes)
		return null;
	const points = [...sizes.runs, ...sizes.kills];
	const x = sizeAxis([...points.map(([bytes]) => bytes), ...sizes.line.map(([bytes]) => bytes)]);
	const y = sizeAxis([...points.map(([, peak]) => peak), ...sizes.line.map(([, , most]) => most)].map((value) => value * MIB));
	const key = (look, text) => element('span', {class: 'entry still'}, element('span', {class: 'size-swatch ' + look, 'aria-hidden': 'true'}), text);

	return element('section', {class: 'card chart', id: 'chart-sizes', 'aria-labelledby': 'title-sizes'},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-sizes'}, 'Memory by size of input'),
			element('p', {class: 'method'}, 'Each dot is an earlier run of this job. The line is what recommend says for an input of that size, and the band reaches down to what half of the runs need.')),
		element('div', {class: 'readout'}, key('size-run', `${sizes.runs.length} runs`), key('size-line', 'Advice'), key('size-band', 'Down to what half of the runs need'),
			sizes.newest.length ? key('size-newest', 'This run') : null, sizes.kills.length ? key('size-kill', `${sizes.kills.length} killed for lack of memory, at what ${sizes.kills.length === 1 ? 'it' : 'they'} had`) : null),
		element('div', {class: 'size-frame'}, tickLabels(y, 'size-y'), sizesPlot(sizes, x, y), tickLabels(x, 'size-x')));
};

/* The saving of the same advice on the earlier runs, as recommend --backtest tells it. */
const savingCard = (run) => {
	const saving = run.raw.saving;

	return saving ? element('section', {class: 'card', id: 'saving'}, element('h2', {}, 'Advice on earlier runs'), note(`The policy ${saving.sentence}.`),
		note(`It would have ${saving.saved_gib_hours < 0 ? 'cost' : 'saved'} ${figure(Math.abs(saving.saved_gib_hours))}\u00a0GiB\u00a0h.`)) : null;
};
