/*
 * Tables that hold the same data as the charts, for screen readers and for copying: statistics of the shown range,
 * and its samples.
 */

const MOST_ROWS = 200, MOST_EVENTS = 1000;

const statistics = (values, x, first, end) => {
	let sum = 0, count = 0, least = NaN, most = NaN, at = NaN;

	for (let i = first; i < end; i++) {
		const value = values[i];
		if (value !== value)
			continue;
		sum += value;
		count++;
		if (!(value >= least))
			least = value;
		if (!(value <= most)) {
			most = value;
			at = x[i];
		}
	}
	return {mean: count ? sum / count : NaN, least, most, at};
};

/* Returns the samples of the shown range, without the neighbours that a line needs. */
const inside = (run, view) => {
	let first = 0, end = run.x.length;

	while (first < end && run.x[first] < view.from - 1e-9)
		first++;
	while (end > first && run.x[end - 1] > view.to + 1e-9)
		end--;
	return [first, end];
};

/* On a narrow page a row becomes a list, in which each cell shows the head of its column. */
const labelled = (table) => {
	const heads = [...table.querySelectorAll('thead th')].map((one) => one.textContent);

	table.classList.add('stacks');
	table.querySelectorAll('tbody tr').forEach((row) => [...row.cells].forEach((cell, i) => cell.dataset.label = heads[i]));
	return table;
};

const statisticsTable = (view) => {
	const body = element('tbody', {});
	const caption = element('caption', {});
	const fill = () => {
		const several = view.runs.length > 1;

		caption.textContent = view.whole ? 'Statistics of the whole run' : `Statistics from ${clock(view.from, 0.1)} to ${clock(view.to, 0.1)}`;
		body.replaceChildren(...view.charts.flatMap((chart) => chart.series.map((line) => {
			const found = statistics(line.values, line.run.x, ...inside(line.run, view));
			return element('tr', {}, element('th', {scope: 'row'}, `${chart.layout.title}: ${line.label}` + (several && chart.run ? ` (${line.run.label})` : '')),
				[found.mean, found.least, found.most].map((value) => element('td', {}, withUnit(value, chart.unit))),
				element('td', {}, Number.isNaN(found.at) ? '\u2013' : clock(found.at, 0.1)));
		})));
	};

	return {fill, table: element('table', {class: 'numbers'}, caption,
		element('thead', {}, element('tr', {}, ['Metric', 'Mean of samples', 'Min', 'Max', 'Time of max'].map((name) => element('th', {scope: 'col'}, name)))), body)};
};

const samplesTable = (view, run) => {
	const columns = view.charts.flatMap((chart) => chart.series.filter((line) => line.run === run).map((series) => ({chart, series})));
	const body = element('tbody', {});
	const caption = element('caption', {});
	const fill = () => {
		const [first, end] = inside(run, view);
		const every = Math.max(1, Math.ceil((end - first) / MOST_ROWS));
		const rows = [];

		for (let i = first; i < end; i += every)
			rows.push(element('tr', {}, element('th', {scope: 'row'}, clock(run.x[i], 0.001)),
				run.began_at === null ? null : element('td', {}, wallClock(run.began_at + run.x[i], 0.001)), columns.map(({chart, series}) => element('td', {}, withUnit(series.values[i], chart.unit)))));
		caption.textContent = `${run.label}: ${end - first} samples` + (every > 1 ? `, every ${every}th is shown; zoom in for all` : '');
		body.replaceChildren(...rows);
	};

	return {fill, table: element('table', {class: 'numbers'}, caption,
		element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'Time'), run.began_at === null ? null : element('th', {scope: 'col'}, 'Local time'),
			columns.map(({chart, series}) => element('th', {scope: 'col'}, `${chart.layout.title}: ${series.label}`)))), body)};
};

/* Lists signals, OOM kills and marks, which the charts show as lines. */
const eventsTable = (run) => {
	const kinds = {oom: 'killed for lack of memory', signal: 'signal passed on', start: 'began', stop: 'ended'};

	return {fill: () => {}, table: element('table', {class: 'numbers'}, element('caption', {}, run.label),
		element('thead', {}, element('tr', {}, ['Time', 'Event'].map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, run.events.slice(0, MOST_EVENTS).map((event) => element('tr', {},
			element('th', {scope: 'row'}, clock(event.at, 0.001)), element('td', {}, event.kind === 'oom' ? kinds.oom : `${event.text}: ${kinds[event.kind]}`)))))};
};

/* Builds its content when the user opens it, and updates it while it is open. */
const folded = (title, view, make, kind) => {
	const tables = [];
	const place = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title});
	const details = element('details', {class: 'card ' + (kind || '')}, element('summary', {}, title), place);
	const fill = () => tables.forEach(({fill: again}) => again());

	details.addEventListener('toggle', () => {
		if (!details.open)
			return;
		if (!tables.length) {
			tables.push(...make());
			place.append(...tables.map(({table}) => table));
		}
		fill();
	});
	view.onChange(() => {
		if (details.open)
			fill();
	});
	return details;
};
