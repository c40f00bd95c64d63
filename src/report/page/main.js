/* Builds the page. */

const begun = performance.now();
const report = JSON.parse(document.getElementById('data').textContent);
const runs = report.runs.map((raw, index) => new Run(raw, index));
const several = runs.length > 1;
const twice = (name) => runs.filter((run) => run.name === name).length > 1;

for (const run of runs) {
	run.label = twice(run.name) ? `${run.name} (${run.raw.file})` : run.name;
	run.events = eventsOf(run);
}

/* Names of the compared sides: a side that is the file of a single run gets that run's label. */
if (report.comparison)
	report.shortNames = report.comparison.sides.map(({name}) => {
		const only = runs.filter((run) => run.raw.side === name);
		return only.length === 1 && name.endsWith(only[0].raw.file) ? only[0].label : name;
	});

const view = new View(runs);

/* ---- light and dark ---- */

const systemTheme = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme || (systemTheme.matches ? 'dark' : 'light')) === 'dark';
const themeButton = element('button', {type: 'button', class: 'plain', onclick: () => {
	document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
	nameTheme();
	view.repaint();
}});
const nameTheme = () => {
	themeButton.textContent = isDark() ? 'Light' : 'Dark';
	themeButton.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`);
};

nameTheme();
systemTheme.addEventListener('change', () => {
	nameTheme();
	view.repaint();
});

/* ---- head ---- */

const title = several ? runs.map((run) => run.label).join(' / ') : runs[0].name;
const subtitle = several ? `${runs.length} runs side by side` :
	[runs[0].figure('run', 'host'), moment(runs[0].figure('run', 'started_timestamp')), runs[0].raw.file].filter(Boolean).join('  \u00b7  ');

document.title = `${title} \u2013 resource-tracker`;

const head = element('header', {class: 'head'},
	element('div', {}, element('h1', {}, title), element('p', {class: 'subtitle'}, subtitle)), themeButton);
const answers = several ? answersOfSeveral(runs, report) : answersOfOne(runs[0], report);

/* ---- charts ---- */

const where = element('output', {class: 'where', 'aria-live': 'off'});
const control = (name, label, act) => element('button', {type: 'button', class: 'plain', 'aria-label': label, title: label, onclick: act}, name);
const toolbar = element('div', {class: 'toolbar', role: 'toolbar', 'aria-label': 'Shown time'}, where,
	element('span', {class: 'tools'},
		control('\u2212', 'Zoom out', () => view.zoom(2)), control('+', 'Zoom in', () => view.zoom(0.5)),
		control('\u2190', 'Earlier', () => view.pan(-0.3)), control('\u2192', 'Later', () => view.pan(0.3)),
		control('Reset', 'Show the whole run', () => view.reset())));

const section = (layout) => {
	const row = runs.map((run) => new Chart(view, layout, run));
	const hasGpu = runs.some((run) => run.figure('gpu', 'count') > 0);

	if (row.every((chart) => chart.empty) || (layout.needs_gpu && !hasGpu && row.every((chart) => chart.idle)))
		return null;
	/* A chart whose values are all 0 shrinks to a line of text. */
	if (row.every((chart) => chart.idle))
		return {panes: [], section: element('section', {class: 'chart card nothing', id: 'chart-' + layout.id}, element('h2', {}, layout.title),
			element('p', {class: 'method'}, layout.nothing || 'Zero all the time.'))};
	view.rows.push(row);
	view.charts.push(...row);
	const panes = row.map((chart) => {
		const canvas = element('div', {class: 'plot', role: 'img', 'aria-label': `${layout.title} over time; the numbers are in the table below`});
		return {chart, canvas, pane: element('div', {class: 'pane'}, several ? element('h3', {}, chart.run.label) : null, chart.readout(),
			chart.empty ? element('p', {class: 'note'}, 'Not recorded.') : canvas)};
	});
	return {panes, section: element('section', {class: 'chart card', id: 'chart-' + layout.id, 'aria-labelledby': 'title-' + layout.id},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-' + layout.id}, layout.title), element('p', {class: 'method'}, layout.note)),
		element('div', {class: 'panes'}, panes.map(({pane}) => pane)))};
};

const sections = LAYOUT.charts.map(section).filter(Boolean);
const charts = element('main', {class: several ? 'charts several' : 'charts', tabindex: '0', 'aria-label': 'Charts. Arrow keys pan and zoom, comma and full stop go from sample to sample, 0 shows all.',
	onkeydown: (event) => view.key(event)}, toolbar, sections.map(({section: made}) => made));

/* ---- tables and foot ---- */

const numbers = statisticsTable(view);
const tables = [folded('Statistics of the shown time', view, () => [numbers]),
	folded('Samples of the shown time', view, () => runs.map((run) => samplesTable(view, run))),
	...(runs.some((run) => run.events.length) ? [folded('Signals and marks', view, () => runs.filter((run) => run.events.length).map(eventsTable))] : [])];
const about = runs.map((run) => element('section', {class: 'card'}, element('h2', {}, several ? `${run.label}: machine and job` : 'Machine and job'),
	machineFacts(run, report), element('h2', {}, 'Recording'), recordFacts(run)));
const foot = element('footer', {}, `resource-tracker ${report.version}` + (report.integration ? ` from ${report.integration}` : '') +
	`, page made ${moment(report.made)}`);

document.getElementById('report').append(head, answers, charts, ...tables, element('div', {class: 'about'}, about), foot);

const tellWhere = (at, indices) => {
	const run = runs[0], index = at === null ? null : indices.get(run), timestamp = run.figure('run', 'started_timestamp');
	const step = (view.to - view.from) / 200;

	where.replaceChildren(...(index === null ?
		[`${clock(view.from, Math.max(step, 0.1))} \u2013 ${clock(view.to, Math.max(step, 0.1))}`, element('span', {class: 'hint'}, view.whole ? 'drag to zoom' : 'double-click to show all')] :
		[element('strong', {}, clock(run.x[index], Math.min(0.1, Math.max(step, 0.001)))), element('span', {class: 'hint'}, several || timestamp === null ? '' : moment(timestamp + run.x[index]))]));
};

view.onHover(tellWhere);
view.fitRows(view.charts);
for (const {panes} of sections)
	for (const {chart, canvas} of panes)
		if (!chart.empty)
			chart.mount(canvas);
view.tell();

let resized = 0;
new ResizeObserver(() => {
	cancelAnimationFrame(resized);
	resized = requestAnimationFrame(() => view.resize());
}).observe(charts);

/* For printing, switch to the light theme, open all sections, and use the width of the paper. */
let before = null;
addEventListener('beforeprint', () => {
	before = {theme: document.documentElement.dataset.theme, open: tables[0].open};
	document.documentElement.dataset.theme = 'light';
	document.documentElement.classList.add('printing');
	tables[0].open = true;
	numbers.fill();
	view.resize();
});
addEventListener('afterprint', () => {
	if (!before)
		return;
	document.documentElement.classList.remove('printing');
	if (before.theme)
		document.documentElement.dataset.theme = before.theme;
	else
		delete document.documentElement.dataset.theme;
	tables[0].open = before.open;
	view.resize();
	view.repaint();
});

/* Milliseconds: how long this script took, and since the page was requested. */
document.documentElement.dataset.since = performance.now().toFixed(1);
document.documentElement.dataset.ready = (performance.now() - begun).toFixed(1);
