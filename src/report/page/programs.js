/* The use of each program of the job over the whole run, as the end of the recording tells it. */

const programRow = (view, run, program, cpu) => {
	const cell = (value, format) => element('td', {}, value === null || value === undefined ? '\u2013' : format(value));
	const estimated = (part, format) => part > 0 ? element('span', {class: 'spread'}, `${format(part)} estimated`) : null;
	const amount = (value, part) => element('td', {}, value === null || value === undefined ? '\u2013' : sizeOf(value), estimated(part, sizeOf));
	const share = cpu > 0 && program.cpu_secs !== null ? ofHundred(100 * program.cpu_secs / cpu) : '\u2013';

	return element('tr', {}, element('th', {scope: 'row'}, program.name), view.runs.length > 1 ? element('td', {}, run.label) : null,
		element('td', {}, program.cpu_secs === null ? '\u2013' : duration(program.cpu_secs),
			estimated(program.cpu_estimated_secs, duration)),
		element('td', {}, share), cell(program.memory_peak_mib, mib), amount(program.disk_read_bytes, program.disk_read_estimated_bytes),
		amount(program.disk_write_bytes, program.disk_write_estimated_bytes), cell(program.process_count, String));
};

const programSection = (view) => {
	const runs = view.runs.filter(({end}) => (end.programs || []).length > 1);
	const heads = ['Program', ...(view.runs.length > 1 ? ['Run'] : []), 'CPU time', 'Share', 'Memory, peak', 'Read from storage', 'Written to storage', 'Processes'];
	const rowsOf = (run) => {
		const cpu = run.end.programs.reduce((sum, program) => sum + (program.cpu_secs || 0), 0);
		return run.end.programs.map((program) => programRow(view, run, program, cpu));
	};

	return runs.length ? element('section', {class: 'chart card', id: 'chart-programs', 'aria-labelledby': 'title-programs'},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-programs'}, 'Programs')),
		element('div', {class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Table of the programs'}, element('table', {class: 'numbers phases'},
			element('caption', {}, 'Each program of the job, over the whole run.'),
			element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))), element('tbody', {}, runs.map(rowsOf))))) : null;
};
