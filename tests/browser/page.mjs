/*
 * Drives a report in a real browser: node page.mjs PLAYWRIGHT_FOLDER CHROMIUM PAGE.html SCENARIO [SCREENSHOT_FOLDER]
 *
 * Prints one JSON object with what was seen; tests/cli/test_report_page.py knows what it has to be.
 */
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [, , playwright, executablePath, file, scenario, shots] = process.argv;
const {chromium} = createRequire(import.meta.url)(playwright);
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
			charts: await page.$$eval('.chart', (all) => all.map((one) => one.id)), ready: Number(await page.evaluate(() => document.documentElement.dataset.since)),
			took: Number(await page.evaluate(() => document.documentElement.dataset.ready)),
		};
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
		await page.mouse.dblclick((await plotBox(page, 'disk')).x + 90, (await plotBox(page, 'disk')).y + 40);
		await page.mouse.move(2, 2);
		await settle(page);
		seen.reset = await where(page);
		return seen;
	},
	async keys(page) {
		const seen = {whole: await where(page)};
		await page.locator('main').focus();
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
		await page.waitForFunction(() => [...document.querySelectorAll('details:not(.forms)')].every((one) => one.querySelector('table')));
		return {rows: await page.$$eval('.numbers', (tables) => tables.map((table) => ({
			caption: table.caption.textContent, rows: [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll('\u00a0', ' ')))})))};
	},
	async looks(page) {
		const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const seen = {light: await paper()};
		const shot = async (name) => {
			if (shots)
				await page.screenshot({path: `${shots}/${name}.png`, fullPage: true});
		};
		await shot('light');
		await page.locator('.head button').click();
		await settle(page);
		seen.dark = await paper();
		await shot('dark');
		await page.setViewportSize({width: 400, height: 800});
		await settle(page);
		await settle(page);
		await shot('narrow');
		seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		seen.pdf = (await page.pdf({format: 'A4', printBackground: true, ...(shots ? {path: `${shots}/print.pdf`} : {})})).length;
		seen.afterPrint = await paper();
		return seen;
	},
	async toggle(page) {
		const button = page.locator('#chart-cpu .entry').first();
		const state = () => button.getAttribute('aria-pressed');
		const seen = {before: await state()};
		await button.click();
		return {...seen, after: await state()};
	},
};

const browser = await chromium.launch({executablePath, headless: true, args: FLAGS});
try {
	const page = await browser.newPage({viewport: {width: 1200, height: 900}, colorScheme: 'light', timezoneId: 'UTC'});
	const problems = [], requests = [];

	page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', (error) => problems.push(String(error.stack)));
	page.on('dialog', (dialog) => {
		problems.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on('request', (request) => requests.push(request.url().slice(0, 60)));
	await page.goto(pathToFileURL(file).href);
	await page.waitForSelector('html[data-ready]', {timeout: 20000});
	const seen = await SCENARIOS[scenario](page);
	console.log(JSON.stringify({...seen, problems, requests}));
} finally {
	await browser.close();
}
