/*
 * Drives reports in real browsers: node page.mjs PLAYWRIGHT_FOLDER [SCREENSHOT_FOLDER] <REQUESTS
 *
 * A request is a line of JSON: {"browser": "chromium" or "firefox", "executable": PATH, "page": PAGE.html,
 * "scenario": NAME, "hash": TEXT, "axe": FOLDER}. The answer is a line of JSON with what was seen, or {"error": TEXT};
 * tests/cli/test_report_page.py knows what it has to be. A browser is started once.
 */
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';

const [, , playwright, shots] = process.argv;
const {chromium, firefox} = createRequire(import.meta.url)(playwright);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];

const where = (page) => page.locator('.where').innerText().then((text) => text.split('\n')[0]);
const values = (page) => page.$$eval('button.entry .value', (all) => all.map((one) => one.textContent.replaceAll('\u00a0', ' ')));
const pointers = (page) => page.$$eval('.u-cursor-x', (all) => all.map((one) => one.style.transform));
const plotBox = (page, chart) => page.locator(`#chart-${chart} .u-over`).first().boundingBox();
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/* The pointer at a part of the width of a chart. */
const hover = async (page, chart, part) => {
	await page.locator(`#chart-${chart}`).scrollIntoViewIfNeeded();
	const box = await plotBox(page, chart);
	await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
	await settle(page);
};

const drag = async (page, chart, from, to, modifier) => {
	await page.locator(`#chart-${chart}`).scrollIntoViewIfNeeded();
	const box = await plotBox(page, chart);
	if (modifier)
		await page.keyboard.down(modifier);
	await page.mouse.move(box.x + box.width * from, box.y + 60);
	await page.mouse.down();
	for (let i = 1; i <= 5; i++)
		await page.mouse.move(box.x + box.width * (from + (to - from) * i / 5), box.y + 60);
	await page.mouse.up();
	if (modifier)
		await page.keyboard.up(modifier);
	await page.mouse.move(2, 2);
	await settle(page);
};

const SCENARIOS = {
	async look(page) {
		return {
			title: await page.title(), heading: await page.locator('h1').innerText(), text: await page.locator('body').innerText(),
			images: await page.locator('img').count(), scripts: await page.locator('script').count(),
			charts: await page.$$eval('.chart', (all) => all.map((one) => one.id)), empty: await page.$$eval('dl, table, section, ul', (all) => all.filter((one) => !one.hidden && !one.textContent.trim() && !one.querySelector('svg, canvas')).map((one) => one.outerHTML)), ready: Number(await page.evaluate(() => document.documentElement.dataset.since)),
			took: Number(await page.evaluate(() => document.documentElement.dataset.ready)),
		};
	},
	/* How opaque a chart is near its floor at each tenth of its width. */
	async floor(page) {
		const floor = await page.$eval('#chart-states canvas', (canvas) => {
			const {left, top, width, height} = canvas.parentElement.querySelector('.u-over').getBoundingClientRect(), own = canvas.getBoundingClientRect(), scale = canvas.width / own.width;
			const {data} = canvas.getContext('2d').getImageData(scale * (left - own.left), scale * (top - own.top + height - 4), scale * width, 1);

			return Array.from({length: 10}, (_, i) => data[4 * Math.floor((i + 0.53) * scale * width / 10) + 3]);
		});

		return {floor};
	},
	/* Every figure of the first screen with the place that it says it is from, and what is written there beside them. */
	async figures(page) {
		return page.evaluate(() => {
			const answers = document.querySelector('.answers').cloneNode(true);
			const figures = [...answers.querySelectorAll('[data-from]')].map((one) => ({from: one.dataset.from, run: Number(one.dataset.run || 0),
				text: one.textContent.replaceAll('\u00a0', ' ').replaceAll('\u2212', '-')}));
			answers.querySelectorAll('[data-from]').forEach((one) => one.remove());
			return {figures, rest: answers.textContent};
		});
	},
	/* Where the lines of a chart stand, by the colours of its canvas: parts of the width at which most of the height is so. */
	async lines(page) {
		for (const summary of await page.locator('details > summary').all())
			await summary.click();
		const found = await page.evaluate(() => {
			const canvas = document.querySelector('#chart-cpu canvas'), over = document.querySelector('#chart-cpu .u-over');
			const ratio = canvas.width / canvas.getBoundingClientRect().width, scale = (pixels) => Math.round(pixels * ratio);
			const [left, top, width, height] = [over.offsetLeft, over.offsetTop, over.clientWidth, over.clientHeight].map(scale);
			const {data} = canvas.getContext('2d').getImageData(left, top, width, height);
			const colours = {};
			for (const name of ['bad', 'ink', 'mark']) {
				const hex = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
				const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
				const columns = [];
				for (let x = 0; x < width; x++) {
					let count = 0;
					/* Below the flags, where there is nothing else of these colours. */
					for (let y = Math.round(height / 4); y < height; y++)
						count += wanted.every((value, i) => Math.abs(data[4 * (y * width + x) + i] - value) < 40) && data[4 * (y * width + x) + 3] > 100;
					if (count > height / 5)
						columns.push(x / width);
				}
				colours[name] = columns;
			}
			return colours;
		});
		return {...found, events: await page.$$eval('details:last-of-type .numbers tbody tr', (all) => all.map((one) => [...one.cells].map((cell) => cell.textContent)))};
	},
	async hover(page) {
		const seen = {before: await values(page)};
		await hover(page, 'memory', 0.5);
		Object.assign(seen, {during: await values(page), pointers: await pointers(page), where: await where(page)});
		await page.mouse.move(2, 2);
		await settle(page);
		return {...seen, after: await values(page)};
	},
	async zoom(page) {
		const seen = {whole: await where(page)};
		await drag(page, 'cpu', 0.25, 0.75);
		seen.dragged = await where(page);
		seen.most = await values(page);
		await drag(page, 'memory', 0.75, 0.5, 'Shift');
		seen.panned = await where(page);
		await hover(page, 'disk', 0.5);
		seen.pointers = await pointers(page);
		/* Playwright cannot double-click in the stock Firefox: its clicks all count as the first. */
		await page.locator('#chart-disk .u-over').dispatchEvent('dblclick');
		await page.mouse.move(2, 2);
		await settle(page);
		seen.reset = await where(page);
		return seen;
	},
	async keys(page) {
		const seen = {whole: await where(page)};
		await page.locator('.charts').focus();
		for (const [name, key] of [['nearer', '+'], ['later', 'ArrowRight'], ['earlier', 'ArrowLeft'], ['all', '0'], ['first', '.'], ['second', '.'], ['back', ',']]) {
			await page.keyboard.press(key);
			await settle(page);
			seen[name] = await where(page);
		}
		return seen;
	},
	async tables(page) {
		for (const summary of await page.locator('details > summary').all())
			await summary.click();
		await page.waitForFunction(() => [...document.querySelectorAll('details:not(.forms):not(.notes)')].every((one) => one.querySelector('table')));
		return {rows: await page.$$eval('.numbers:not(#table-phases *)', (tables) => tables.map((table) => ({
			caption: table.caption.textContent, rows: [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll('\u00a0', ' ')))})))};
	},
	/* The plot of peaks by size of input, on a wide and on a narrow screen. */
	async sizes(page) {
		const look = () => page.evaluate(() => {
			const plot = document.querySelector('.size-plot'), box = plot.getBoundingClientRect(), of = (one) => one.getBoundingClientRect();
			const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
			const dots = [...plot.querySelectorAll('circle')], labels = [...document.querySelectorAll('.size-frame text')].map(of);
			const centre = (one) => [(of(one).left + of(one).right) / 2, (of(one).top + of(one).bottom) / 2];
			return {...Object.fromEntries(['run', 'newest', 'kill'].map((name) => [name, dots.filter((one) => one.matches('.size-' + name)).length])),
				outside: dots.map(centre).filter(([x, y]) => x < box.left || x > box.right || y < box.top || y > box.bottom).length,
				overlapping: labels.filter((one, i) => labels.slice(i + 1).some((other) => meet(one, other))).length,
				places: dots.filter((one) => one.matches('.size-run')).map(centre)};
		});
		const {runs: [{sizes}]} = JSON.parse(await page.locator('#data').textContent());
		const wide = await look(), label = await page.locator('.size-plot').getAttribute('aria-label');
		const sorted = (which) => sizes.runs.map((point, i) => [point[which], wide.places[i][which]]).sort((a, b) => a[0] - b[0]);
		await page.setViewportSize({width: 390, height: 844});
		await settle(page);
		return {wide, narrow: await look(), label, rightwards: sorted(0).every(([, at], i, all) => !i || at >= all[i - 1][1] - 0.01),
			upwards: sorted(1).every(([, at], i, all) => !i || at <= all[i - 1][1] + 0.01)};
	},
	async looks(page) {
		const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const seen = {light: await paper()};
		const shot = async (name) => {
			if (shots)
				await page.screenshot({path: `${shots}/${name}.png`, fullPage: true, caret: 'initial'});
		};
		await shot('light');
		await page.locator('.head button').click();
		await settle(page);
		seen.dark = await paper();
		await shot('dark');
		/* How many of the first cards stand in each line. */
		seen.lines = {};
		for (const width of [1280, 1080, 800, 500]) {
			await page.setViewportSize({width, height: 900});
			await settle(page);
			if (width === 1080)
				await shot('medium');
			seen.lines[width] = Object.values(await page.$$eval('.answers > :not(.wide)', (all) => Object.groupBy(all.map((one) => one.getBoundingClientRect().top), (top) => top))).map((line) => line.length);
		}
		await page.setViewportSize({width: 390, height: 844});
		await settle(page);
		await settle(page);
		await shot('narrow');
		seen.captions = await page.$$eval('.scroll caption', (all) => all.filter((one) => one.textContent && one.checkVisibility()).map((one) => {
			const text = document.createRange();
			text.selectNodeContents(one);
			return Math.ceil(text.getBoundingClientRect().right);
		}));
		seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		seen.pdf = (await page.pdf({format: 'A4', printBackground: true, ...(shots ? {path: `${shots}/print.pdf`} : {})})).length;
		seen.afterPrint = await paper();
		return seen;
	},
	/* Where the first chart begins on a page that nothing has scrolled, and what a narrow page hides to the right. */
	async fit(page) {
		const seen = {chart: await page.evaluate(() => document.querySelector('#chart-cpu .u-over').getBoundingClientRect().top)};
		const hidden = () => page.$$eval('.scroll', (all) => all.filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute('aria-label')));

		seen.wide = await hidden();
		seen.colours = await page.$$eval('.swatch.area', (all) => all.map((one) => [one.closest('.chart').id, one.style.getPropertyValue('--swatch')]));
		await page.setViewportSize({width: 500, height: 900});
		await settle(page);
		await settle(page);
		return {...seen, narrow: await hidden(), labels: await page.$$eval('#table-phases tbody tr:first-child td', (all) => all.map((one) => getComputedStyle(one, '::before').content))};
	},
	/* The page of a workflow: the chosen step by itself, by a key and by a click, and the table. */
	async flow(page) {
		const chosen = () => page.locator('#step h2').innerText();
		const names = () => page.$$eval('#steps tbody th', (all) => all.map((one) => one.textContent));
		const shownTime = () => page.locator('.where').innerText();
		const seen = {charts: await page.$$eval('.chart', (all) => all.map((one) => one.id)), text: (await page.locator('body').innerText()).replaceAll('\u00a0', ' '),
			path: await page.$$eval('[aria-label="Critical path"] tbody th', (all) => all.map((one) => one.textContent)), chosen: [await chosen()], whole: await shownTime()};
		await page.locator('.lanes').focus();
		await page.keyboard.press('ArrowLeft');
		seen.chosen.push(await chosen());
		const box = await page.locator('.lanes canvas').boundingBox();
		await page.mouse.click(box.x + 5, box.y + 5);
		seen.chosen.push(await chosen());
		await page.keyboard.press('+');
		seen.zoomed = await shownTime();
		await page.keyboard.press('0');
		seen.reset = await shownTime();
		await page.locator('#steps select').first().selectOption('failed');
		seen.failed = await names();
		await page.locator('#steps select').first().selectOption('all steps');
		await page.locator('#steps input').fill('SORT (sample=s07');
		seen.named = await names();
		await page.locator('#steps input').fill('');
		await page.locator('#steps select').last().selectOption('3 true');
		seen.longest = [(await names())[0], await page.locator('#steps th[scope="col"]').nth(3).getAttribute('aria-sort')];
		await page.setViewportSize({width: 390, height: 844});
		await settle(page);
		seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		return seen;
	},
	/* Every rule of axe that applies, at both widths and in both themes, with all sections open. */
	async axe(page, {axe}) {
		const violations = [];

		for (const summary of await page.locator('details > summary').all())
			await summary.click();
		await page.evaluate(readFileSync(`${axe}/axe.min.js`, 'utf8') + ';0');
		for (const [width, height] of [[1280, 900], [390, 844]]) {
			await page.setViewportSize({width, height});
			for (const theme of ['light', 'dark']) {
				await page.evaluate((name) => {
					document.documentElement.dataset.theme = name;
				}, theme);
				/* The colours of buttons change slowly: two frames until the change has begun, then to its end. */
				await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
				await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)));
				const found = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
				violations.push(...found.violations.map(({id, nodes}) => `${width} ${theme} ${id}: ${nodes.map(({html, failureSummary}) => `${html} ${failureSummary}`).join(' | ').slice(0, 800)}`));
			}
		}
		return {violations, rules: await page.evaluate(() => axe.getRules().length)};
	},
	/* The tree that a screen reader walks. */
	async tree(page) {
		return {tree: await page.locator('body').ariaSnapshot()};
	},
	/* Where the Tab key stops, and a phase that the keyboard alone opens. */
	async tab(page) {
		const stops = [];

		for (let i = 0; i < 60; i++) {
			await page.keyboard.press('Tab');
			stops.push(await page.evaluate(() => {
				const {activeElement: at} = document;
				return at === document.body ? '' : at.getAttribute('aria-label') || at.textContent.slice(0, 40);
			}));
			if (stops.at(-1) === 'load') {
				await page.keyboard.press('Enter');
				await settle(page);
			}
		}
		return {stops, where: await where(page)};
	},
	async fragment(page, {hash}) {
		const seen = {first: await where(page)};

		if (hash)
			return seen;
		await drag(page, 'cpu', 0.25, 0.75);
		await page.waitForFunction(() => location.hash);
		seen.hash = await page.evaluate(() => location.hash);
		await page.evaluate(() => {
			location.hash = '#t=1,3';
		});
		await page.waitForFunction(() => document.querySelector('.where').textContent.startsWith('0:01'));
		seen.changed = await where(page);
		await page.locator('.charts').focus();
		await page.keyboard.press('0');
		await page.waitForFunction(() => !location.hash);
		return seen;
	},
	async wheel(page) {
		const seen = {whole: await where(page)};

		await hover(page, 'cpu', 0.25);
		await page.mouse.wheel(0, 5);
		await settle(page);
		seen.plain = await page.evaluate(() => location.hash);
		await hover(page, 'cpu', 0.25);
		await page.keyboard.down('Control');
		await page.mouse.wheel(0, -200);
		await page.keyboard.up('Control');
		await page.mouse.move(2, 2);
		await page.waitForFunction(() => location.hash);
		return {...seen, zoomed: await where(page), scale: await page.evaluate(() => visualViewport.scale)};
	},
	/* The files that the buttons save, and the text that they copy. */
	async save(page) {
		const saved = async (locator) => {
			const [download] = await Promise.all([page.waitForEvent('download'), locator.click()]);
			return {name: download.suggestedFilename(), bytes: readFileSync(await download.path())};
		};
		await drag(page, 'cpu', 0.25, 0.75);
		const all = await saved(page.getByRole('toolbar').getByRole('button', {name: /CSV/}));
		const one = await saved(page.locator('#chart-memory').getByRole('button', {name: /CSV/}));
		const picture = await saved(page.locator('#chart-cpu').getByRole('button', {name: /picture/}));
		const ratio = await page.evaluate(() => devicePixelRatio);
		await page.locator('.forms > summary').click();
		await page.locator('.forms').getByRole('button', {name: 'Copy the settings for Slurm'}).click();
		await page.locator('.forms button', {hasText: 'Copied'}).first().waitFor();
		await page.evaluate(() => {
			const area = document.createElement('textarea');
			document.body.append(area);
			area.focus();
		});
		await page.keyboard.press('Control+V');
		return {all: [all.name, all.bytes.toString()], one: [one.name, one.bytes.toString()],
			picture: [picture.name, picture.bytes.subarray(1, 4).toString(), picture.bytes.readUInt32BE(16) / ratio, picture.bytes.readUInt32BE(20) / ratio],
			copied: await page.evaluate(() => document.querySelector('body > textarea').value), form: await page.locator('.forms pre').first().innerText()};
	},
	/* In which parts of the width a chart has pixels of a colour, and pale ones of it. */
	async drawn(page, {chart, colour}) {
		return page.evaluate(([id, name]) => {
			const canvas = document.querySelector(`#chart-${id} canvas`), over = document.querySelector(`#chart-${id} .u-over`);
			const ratio = canvas.width / canvas.getBoundingClientRect().width, scale = (pixels) => Math.round(pixels * ratio);
			const [left, top, width, height] = [over.offsetLeft, over.offsetTop, over.clientWidth, over.clientHeight].map(scale);
			const {data} = canvas.getContext('2d').getImageData(left, top, width, height);
			const hex = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
			const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
			const full = [], pale = [];
			for (let x = 0; x < width; x++) {
				let [solid, light] = [0, 0];
				for (let y = 0; y < height; y++) {
					const at = 4 * (y * width + x);
					const same = data[at + 3] > 0 && wanted.every((value, i) => Math.abs(data[at + i] - value) < 40);
					solid += same && data[at + 3] > 120;
					light += same && data[at + 3] > 40 && data[at + 3] < 100;
				}
				if (solid)
					full.push(x / width);
				if (light > 8)
					pale.push(x / width);
			}
			return {full, pale};
		}, [chart, colour]);
	},
	async phases(page) {
		const heads = await page.$$eval('#table-phases thead th', (all) => all.map((one) => one.textContent));
		const rows = await page.$$eval('#table-phases tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.replaceAll('\u00a0', ' '))));
		const bar = await page.evaluate(() => {
			const canvas = document.querySelector('.bar canvas'), ratio = canvas.width / canvas.clientWidth, copy = document.createElement('canvas');
			/* A copy, because the browser warns of reading a canvas again and again. */
			copy.width = canvas.width;
			copy.height = canvas.height;
			const ctx = copy.getContext('2d', {willReadFrequently: true});
			ctx.drawImage(canvas, 0, 0);
			const box = document.querySelector('.u-over').getBoundingClientRect(), own = canvas.getBoundingClientRect();
			const at = (part) => [...ctx.getImageData(Math.round((box.left - own.left + part * box.width) * ratio), 8, 1, 1).data].slice(0, 3);
			return [1.5, 3.5, 5.5, 7.5].map((secs) => at(secs / 8).join());
		});
		await page.locator('#table-phases tbody button').first().click();
		await settle(page);
		return {heads, rows, bar, where: await where(page)};
	},
	async overlay(page) {
		const seen = {labels: await page.$$eval('#chart-cpu .entry .label', (all) => all.map((one) => one.textContent)), plots: await page.locator('#chart-cpu canvas').count(),
			verdict: await page.locator('.answers .card').first().innerText(), mood: await page.locator('.answers .card').first().getAttribute('class'),
			worse: await page.$$eval('.change.worse', (all) => all.length)};
		await page.getByRole('button', {name: /over each other/}).click();
		await settle(page);
		seen.beside = await page.locator('#chart-cpu canvas').count();
		await page.waitForFunction(() => location.hash);
		return {...seen, hash: await page.evaluate(() => location.hash)};
	},
	async clock(page) {
		await page.getByRole('button', {name: /local time/}).click();
		await settle(page);
		await hover(page, 'cpu', 0.5);
		return {range: await page.locator('.where').innerText(), hash: await page.evaluate(() => location.hash)};
	},
	/* The top of the page, for README (tools/make-pictures). */
	async picture(page) {
		await page.setViewportSize({width: 1180, height: 900});
		await settle(page);
		await settle(page);
		const {y, height} = await page.locator('#chart-cpu').evaluate((one) => one.getBoundingClientRect().toJSON());
		return {png: (await page.screenshot({clip: {x: 0, y: 0, width: 1180, height: y + height + 12}, fullPage: true})).toString('base64')};
	},
	async paper(page) {
		return {pdf: (await page.pdf({format: 'A4', printBackground: true})).toString('base64')};
	},
	async toggle(page) {
		const button = page.locator('#chart-cpu .entry').first();
		const state = () => button.getAttribute('aria-pressed');
		const seen = {before: await state()};
		await button.click();
		return {...seen, after: await state()};
	},
};

const browsers = {};
const start = ({browser, executable}) => {
	browsers[browser] = browsers[browser] || (browser === 'firefox' ?
		/* The stock Firefox speaks WebDriver BiDi, which Playwright calls a channel. */
		firefox.launch({executablePath: executable, channel: 'moz-firefox', headless: true}) :
		chromium.launch({executablePath: executable, headless: true, args: FLAGS}));
	return browsers[browser];
};

const answer = async (request) => {
	const context = await (await start(request)).newContext({viewport: {width: 1280, height: 900}, colorScheme: 'light', timezoneId: 'UTC', acceptDownloads: true});
	const page = await context.newPage();
	const problems = [], requests = [];

	page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', (error) => problems.push(String(error.stack || error)));
	page.on('dialog', (dialog) => {
		problems.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on('request', (one) => requests.push(one.url().slice(0, 60)));
	try {
		await page.goto(pathToFileURL(request.page).href + (request.hash || ''));
		await page.waitForSelector('html[data-ready]', {timeout: 20000});
		return {...await SCENARIOS[request.scenario](page, request), problems, requests};
	} finally {
		await context.close();
	}
};

for await (const line of createInterface({input: process.stdin}))
	console.log(JSON.stringify(await answer(JSON.parse(line)).catch((error) => ({error: String(error.stack || error)}))));
for (const browser of Object.values(browsers))
	await (await browser).close();
