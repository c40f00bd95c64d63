/* Takes data out of the page: pictures, CSV and snippets. */

const fileName = (...parts) => parts.join('-').replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 120);

const save = (name, blob) => {
	const link = element('a', {href: URL.createObjectURL(blob), download: name});

	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

const quoted = (text) => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/* Returns the samples of the shown time in full precision: a row for each sample, a column for each line of the charts. */
const csvOf = (view, charts) => {
	const several = view.runs.length > 1, rows = [];
	const heading = (chart, line) => `${chart.layout.title}: ${line.label}` + (chart.unit ? ` [${chart.unit}]` : '');
	const columns = charts.flatMap((chart) => chart.series.map((line) => ({line, heading: heading(chart, line)})));
	const headings = [...new Set(columns.map((column) => column.heading))];

	rows.push([...(several ? ['run'] : []), 'elapsed_secs', 'time', ...headings].map(quoted).join(','));
	for (const run of view.runs) {
		const own = headings.map((text) => columns.find((column) => column.heading === text && column.line.run === run)), [first, end] = inside(run, view);
		for (let i = first; i < end; i++)
			rows.push([...(several ? [quoted(run.label)] : []), run.x[i], run.began_at === null ? '' : isoMoment(run.began_at + run.x[i]),
				...own.map((column) => column && column.line.values[i] === column.line.values[i] ? String(column.line.values[i]) : '')].join(','));
	}
	return rows.join('\n') + '\n';
};

const saveCsv = (view, charts, name) => save(fileName(view.runs[0].name, name) + '.csv', new Blob([csvOf(view, charts)], {type: 'text/csv'}));

/* Draws a chart with its title and read-out, as large as on the screen. */
const pictureOf = (charts) => {
	const shown = charts.filter((chart) => chart.plot), ratio = uPlot.pxRatio, top = 26, key = 20;
	const canvas = document.createElement('canvas'), ctx = canvas.getContext('2d'), width = shown[0].plot.width;
	const height = top + key + PLOT_HEIGHT + 8;

	canvas.width = width * ratio;
	canvas.height = height * shown.length * ratio;
	ctx.scale(ratio, ratio);
	ctx.fillStyle = colour('card');
	ctx.fillRect(0, 0, width, height * shown.length);
	shown.forEach((chart, i) => {
		let x = 10;

		ctx.fillStyle = colour('ink');
		ctx.font = `600 14px ${FONT}`;
		ctx.fillText([chart.layout.title, ...(chart.run ? [chart.run.label] : [])].join(' \u2013 '), x, i * height + 18);
		ctx.font = `12px ${FONT}`;
		for (const line of chart.visible()) {
			ctx.fillStyle = colour(line.colour);
			ctx.fillRect(x, i * height + top + 7, 16, 3);
			ctx.fillStyle = colour('ink');
			ctx.fillText(line.label, x + 22, i * height + top + 12);
			x += 40 + ctx.measureText(line.label).width;
		}
		ctx.drawImage(chart.plot.ctx.canvas, 0, i * height + top + key, width, PLOT_HEIGHT);
	});
	return canvas;
};

const savePicture = (charts) => pictureOf(charts).toBlob((blob) => save(fileName(charts[0].runs[0].name, charts[0].layout.id) + '.png', blob), 'image/png');

/* Copies a text. A browser that keeps the clipboard from pages in files still obeys the old command. */
const copyText = async (text) => {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = element('textarea', {'aria-hidden': 'true'});

		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
	}
};

const copyButton = (what, text) => {
	const button = element('button', {type: 'button', class: 'plain small', 'aria-label': `Copy ${what}`, onclick: async () => {
		await copyText(text());
		button.textContent = 'Copied';
		setTimeout(() => {
			button.textContent = 'Copy';
		}, 1500);
	}}, 'Copy');

	return button;
};
