/* The lines of each chart: {run, label, title, values, colour, width, dash, fill, shown}. */

const LOOKS = {
	job: {width: 1.8, fill: true}, machine: {width: 1.2}, second: {width: 1.3, dash: [2, 2]}, third: {width: 1.3}, fourth: {width: 1.3, dash: [8, 3, 2, 3]},
	fifth: {width: 1.2, dash: [3, 3]}, limit: {width: 1.4, dash: [8, 4]},
};
const OUTWARD = [6, 3];
const PALETTE = 8, MOST_STACKED = 8;

const has = (values) => values && values.some((value) => value === value);
const tops = new WeakMap();
const topOf = ({values}) => {
	if (!tops.has(values))
		tops.set(values, extent(values, 0, values.length)[1]);
	return tops.get(values);
};

const looking = (look) => {
	const colour = look.replace('-out', '');

	return {colour, ...LOOKS[colour], ...(look === colour ? {} : {width: 1.2, fill: false, dash: OUTWARD})};
};

/*
 * Drops a line that equals the one it would repeat. Hides a line that is so large that the job's would be flat.
 */
const tidied = (lines) => {
	const job = lines.find((line) => line.look === 'job');
	const kept = lines.filter((line) => !line.only_if_any || topOf(line) > 0).filter((line) => {
		const same = line.same_as && lines.find((other) => other.column === line.same_as);
		return !same || line.values.some((value, i) => value === value && value !== same.values[i]);
	});

	for (const line of kept)
		line.shown = !(line.aside && job && line !== job && topOf(line) > 6 * topOf(job));
	return kept;
};

/* The values that the layout lists. */
const listedLines = (run, layout) => tidied(layout.series
	.map((series) => ({...series, ...looking(series.look), run, values: run.drawn(layout, series.column), title: (run.column(series.column) || {}).help}))
	.filter((line) => has(line.values)));

/* For each kind of rows, the number of each row's colour: a GPU or a program has the same in all charts, where that is free. */
const kindColours = new Map();

const coloured = (kind, lines, most) => {
	const known = kindColours.get(kind) || kindColours.set(kind, new Map()).get(kind), taken = new Set();
	const numbers = lines.map(({name}) => {
		const number = known.get(name);
		if (!(number < most) || taken.has(number))
			return null;
		taken.add(number);
		return number;
	});

	return lines.map((line, i) => {
		let number = numbers[i];
		for (let free = 0; number === null; free++)
			number = taken.has(free) ? null : free;
		taken.add(number);
		if (!known.has(line.name))
			known.set(line.name, number);
		return {...line, colour: 'c' + number % PALETTE, dash: number < PALETTE ? undefined : OUTWARD, width: 1.5};
	});
};

/* All rows of a kind: each GPU, each disk. Several columns are added up. */
const rowLines = (run, layout) => {
	const lines = run.instances(layout).filter((line) => has(line.values)).map((line) => ({...line, run, shown: true}));
	const busy = layout.several ? lines.filter((line) => topOf(line) > 0) : lines;

	return layout.several && busy.length < 2 ? [] : layout.stacked ? stackable(layout.rows, busy) : coloured(layout.rows, busy, Infinity);
};

/* The largest lines, and last the sum of all others, to which rows that the recorder called so belong; each is a part of a stack. */
const stackable = (kind, lines) => {
	const total = ({values}) => values.reduce((sum, value) => value === value ? sum + value : sum, 0);
	const named = lines.filter(({name}) => name !== 'others').map((line) => ({...line, total: total(line)})).sort((a, b) => b.total - a.total);
	/* As many as there are colours. */
	const most = Math.min(MOST_STACKED, named.length);
	const rest = [...named.slice(most), ...lines.filter(({name}) => name === 'others')];
	const added = (sum, {values}) => sum.map((value, i) => value === value ? (values[i] === values[i] ? value + values[i] : value) : values[i]);

	return [...coloured(kind, named.slice(0, most), PALETTE).map((line) => ({...line, dash: undefined, width: 1})),
		...(rest.length ? [{...rest[0], label: rest.length > 1 ? 'others' : rest[0].label, title: rest.map(({label}) => label).join(', '), colour: 'machine', width: 1, values: rest.slice(1).reduce(added, rest[0].values)}] : [])];
};

/* The lines of a chart of one run. */
const linesOf = (run, layout) => layout.states ? stateLines(run, layout) : layout.rows ? rowLines(run, layout) : listedLines(run, layout);

/* One chart of several runs: the job's lines, or all lines of a chart that has none of the job. The run gives the colour. */
const overlaidLines = (runs, layout) => {
	if (layout.rows)
		return [];
	const all = runs.map((run) => listedLines(run, layout).map((line) => ({...line, shown: true})));
	const ofJob = all.some((lines) => lines.some(({look}) => look.startsWith('job')));

	return all.flatMap((lines, i) => lines.filter(({look}) => !ofJob || look.startsWith('job')).map((line) => ({...line, colour: 'c' + i % PALETTE, fill: false,
		dash: line.look.endsWith('-out') ? OUTWARD : undefined, width: 1.5, label: ofJob && line.label === 'Job' ? runs[i].label : `${runs[i].label}: ${line.label}`})));
};
