/* Builds the page. */

const begun = performance.now();
const report = JSON.parse(document.getElementById('data').textContent);
const runs = report.runs.map((raw, index) => new Run(raw, index));
const several = runs.length > 1;
const twice = (name) => runs.filter((run) => run.name === name).length > 1;

for (const run of runs) {
	/* "run 12" or the caller's name of a side; the file where it was given alone. */
	const repeated = runs.filter(({raw}) => raw.side === run.raw.side).length > 1;
	run.place = repeated || run.raw.side.endsWith(run.raw.file) ? run.raw.file : run.raw.side;
	run.label = twice(run.name) ? run.place : run.name;
	run.events = eventsOf(run);
}
nameKinds(runs);

/* Names of the compared sides: a side that is the file of a single run gets that run's label. */
if (report.comparison)
	report.shortNames = report.comparison.sides.map(({name}) => {
		const only = runs.filter((run) => run.raw.side === name);
		return only.length === 1 && name.endsWith(only[0].raw.file) ? only[0].label : name;
	});

const view = new View(runs);
const fragmentOf = () => new URLSearchParams(location.hash.slice(1));
const fragment = fragmentOf();

/* ---- light and dark ---- */

const isDark = () => (document.documentElement.dataset.theme || (systemTheme.matches ? 'dark' : 'light')) === 'dark';
const themeButton = element('button', {type: 'button', class: 'plain', onclick: () => {
	document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
	nameTheme();
	view.repaint();
}});
const nameTheme = () => {
	themeButton.textContent = isDark() ? 'Light' : 'Dark';
	themeButton.setAttribute('aria-label', `${isDark() ? 'Light' : 'Dark'}: switch the colours`);
};

nameTheme();
systemTheme.addEventListener('change', () => {
	nameTheme();
	view.repaint();
});

/* ---- head ---- */

const sameName = several && runs.every((run) => run.name === runs[0].name) ? runs[0].name + ': ' : '';
const title = several ? sameName + runs.map((run) => run.label).join(' / ') : runs[0].name;
const startOf = (run) => run.began_at === null ? null : element('span', {title: moment(run.began_at)}, localMoment(run.began_at));
const subtitle = several ? [`${runs.length} runs`] : joined([runs[0].figure('run', 'host'), startOf(runs[0]), runs[0].place], '  \u00b7  ');

document.title = `${title} \u2013 resource-tracker`;

const head = element('header', {class: 'head'},
	element('div', {}, element('h1', {}, title), element('p', {class: 'subtitle'}, subtitle)), themeButton);
const answers = several ? answersOfSeveral(runs, report) : answersOfOne(runs[0], report);

/* ---- charts ---- */

const where = element('output', {class: 'where', 'aria-live': 'off'});
const control = (name, label, act, properties) => element('button', {type: 'button', class: 'plain', 'aria-label': label, title: label, onclick: act, ...properties}, name);
const pressing = (name, label, get, set) => {
	const button = control(name, label, () => {
		set(!get());
		button.setAttribute('aria-pressed', String(get()));
	}, {'aria-pressed': String(get())});

	return button;
};

let overlaid = several && runs.length <= PALETTE && !fragment.get('side');
view.local = !several && runs[0].began_at !== null && fragment.get('clock') === 'local';

const toolbar = element('div', {class: 'toolbar', role: 'toolbar', 'aria-label': 'Shown time'}, where,
	element('span', {class: 'tools'},
		control('\u2212', 'Zoom out', () => view.zoom(2)), control('+', 'Zoom in', () => view.zoom(0.5)),
		control('\u2190', 'Earlier', () => view.pan(-0.3)), control('\u2192', 'Later', () => view.pan(0.3)),
		control('Reset', 'Reset: show the whole run', () => view.reset()),
		several ? pressing('Overlay', 'Overlay: draw the runs over each other', () => overlaid, (on) => {
			overlaid = on;
			build();
			remember();
		}) : runs[0].began_at === null ? null : pressing('Clock', 'Clock: show local time below the charts', () => view.local, (on) => {
			view.local = on;
			view.draw(view.charts);
		}),
		control('CSV', 'CSV: save the samples of the shown time', () => saveCsv(view, view.charts, 'samples'))));

const chartsOf = (layout) => overlaid && overlaidLines(runs, layout).length ? [new Chart(view, layout, runs, overlaidLines(runs, layout))] :
	runs.map((run) => new Chart(view, layout, [run], linesOf(run, layout)));

const section = (layout) => {
	const row = chartsOf(layout);
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
		const canvas = element('div', {class: 'plot', role: 'img', 'aria-label': chart.spoken()});
		return {chart, canvas, pane: element('div', {class: 'pane'}, row.length > 1 ? element('h3', {}, chart.run.label) : null, chart.readout(),
			chart.empty ? element('p', {class: 'note'}, 'Not recorded.') : canvas)};
	});
	return {panes, section: element('section', {class: 'chart card', id: 'chart-' + layout.id, 'aria-labelledby': 'title-' + layout.id},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-' + layout.id}, layout.title), element('p', {class: 'method'}, layout.note),
			element('span', {class: 'saving'}, control('PNG', `PNG: save a picture of the chart ${layout.title}`, () => savePicture(row.filter((chart) => chart.plot)), {class: 'plain small'}),
				control('CSV', `CSV: save the samples of ${layout.title}`, () => saveCsv(view, row, layout.id), {class: 'plain small'}))),
		element('div', {class: row.length > 1 ? 'panes beside' : 'panes'}, panes.map(({pane}) => pane)))};
};

const chartList = element('div', {class: 'chart-list' + (several ? ' whole-width' : '')});
const charts = element('section', {class: 'charts', tabindex: '0', 'aria-label': 'Charts. Arrow keys pan and zoom, comma and full stop go from sample to sample, 0 shows all.',
	onkeydown: (event) => view.key(event)}, toolbar, phaseSection(view), chartList, phaseTableSection(view), programSection(view));

charts.addEventListener('wheel', (event) => view.wheel(event), {passive: false});

/* Makes all charts, and draws those that are on the page. */
const build = () => {
	view.charts.forEach((chart) => chart.unmount());
	view.charts = [];
	view.rows = [];
	const sections = LAYOUT.charts.map(section).filter(Boolean);
	chartList.replaceChildren(...sections.map(({section: made}) => made));
	view.fitRows(view.charts);
	for (const {panes} of sections)
		for (const {chart, canvas} of panes)
			if (!chart.empty)
				chart.mount(canvas);
	view.drawn();
};

/* ---- tables and foot ---- */

const numbers = statisticsTable(view);
const tables = [folded('Statistics of the shown time', view, () => [numbers]),
	folded('Samples of the shown time', view, () => runs.map((run) => samplesTable(view, run)), 'samples'),
	...(runs.some((run) => run.events.length) ? [folded('Signals and marks', view, () => runs.filter((run) => run.events.length).map(eventsTable))] : [])];
const about = runs.map((run) => element('section', {class: 'card'}, element('h2', {}, several ? `${run.label}: machine and job` : 'Machine and job'),
	machineFacts(run, report), element('h2', {}, 'Recording'), recordFacts(run)));
const foot = element('footer', {}, `resource-tracker ${report.version}` + (report.integration ? ` from ${report.integration}` : '') +
	`, page made ${localMoment(report.made)}`);

document.getElementById('report').append(head, element('main', {}, answers, charts, several ? null : [sizesSection(runs[0]), savingCard(runs[0]), formsOf(runs[0])], tables, element('div', {class: 'about'}, about)), foot);

/* The time at the pointer, or the shown range: since the start, and of the reader's clock. */
const tellWhere = (at, indices) => {
	const run = runs[0], index = at === null ? null : indices.get(run), step = (view.to - view.from) / 200;
	const local = (secs) => several || run.began_at === null ? '' : wallClock(run.began_at + secs, Math.max(step, 1));

	where.replaceChildren(...(index === null || index < 0 ?
		[`${clock(view.from, Math.max(step, 0.1))} \u2013 ${clock(view.to, Math.max(step, 0.1))}`, element('span', {class: 'clock'}, local(0) ? `${local(view.from)} \u2013 ${local(view.to)}` : ''),
			element('span', {class: 'hint'}, view.whole ? 'drag to zoom, or hold Ctrl and scroll' : 'double-click to show all')] :
		[element('strong', {}, clock(run.x[index], Math.min(0.1, Math.max(step, 0.001)))), element('span', {class: 'clock'}, several || run.began_at === null ? '' : localMoment(run.began_at + run.x[index]))]));
};

view.onHover(tellWhere);

/* The shown time is in the address, so that a link can point at it. */
let remembering = 0;
const remember = () => {
	clearTimeout(remembering);
	remembering = setTimeout(() => {
		const words = [view.whole ? '' : `t=${[view.from, view.to].map((secs) => Number(secs.toFixed(3))).join(',')}`, view.local ? 'clock=local' : '', several && !overlaid ? 'side=1' : ''].filter(Boolean).join('&');
		if (location.hash.slice(1) !== words)
			history.replaceState(null, '', words ? '#' + words : location.pathname + location.search);
	}, 150);
};
const recall = () => {
	const [from, to] = (fragmentOf().get('t') || '').split(',').map(Number);

	if (to > from)
		view.show(from, to);
};

recall();
build();
view.onChange(remember);
addEventListener('hashchange', recall);

/* For printing, switch to the light theme, and use the width of the paper. */
let before = null;
/* The width of A4 and Letter within usual margins, in CSS pixels. */
const PRINT_WIDTH = 660;
let resized = 0;
new ResizeObserver(() => {
	cancelAnimationFrame(resized);
	resized = requestAnimationFrame(() => {
		if (!before)
			view.resize();
	});
}).observe(charts);

addEventListener('beforeprint', () => {
	before = {theme: document.documentElement.dataset.theme};
	document.documentElement.dataset.theme = 'light';
	document.documentElement.classList.add('printing');
	/* Two charts stand side by side on paper: two runs, or two subjects of one. */
	view.resize(several && overlaid ? PRINT_WIDTH : PRINT_WIDTH / 2 - 26);
});
addEventListener('afterprint', () => {
	if (!before)
		return;
	document.documentElement.classList.remove('printing');
	if (before.theme)
		document.documentElement.dataset.theme = before.theme;
	else
		delete document.documentElement.dataset.theme;
	before = null;
	view.resize();
	view.repaint();
});

/* Milliseconds: how long this script took, and since the page was requested. */
document.documentElement.dataset.since = performance.now().toFixed(1);
document.documentElement.dataset.ready = (performance.now() - begun).toFixed(1);
