/* The use of each program of the job over the whole run, as the end of the recording tells it. */

/* The kernel's name of a process has at most 15 bytes. */
const CUT_NAME = 15;
const fullName = (name) => name.length === CUT_NAME && !name.includes(' ') ? name + '\u2026' : name;
/* An estimate below this part of the figure does not change it. */
const LEAST_ESTIMATE = 0.01;
/* Programs below both have a table of their own that is folded. */
const SMALL_SHARE = 0.01, SMALL_BYTES = MIB;

const programRow = (view, run, program, cpu) => {
	const cell = (value, format) => element('td', {}, value === null || value === undefined ? '\u2013' : format(value));
	const estimated = (part, whole, format) => part > LEAST_ESTIMATE * whole ? element('span', {class: 'spread'}, `${format(part)} estimated`) : null;
	const amount = (value, part) => element('td', {}, value === null || value === undefined ? '\u2013' : sizeOf(value), estimated(part, value, sizeOf));
	const share = cpu > 0 && program.cpu_secs !== null ? ofHundred(100 * program.cpu_secs / cpu) : '\u2013';

	return element('tr', {}, element('th', {scope: 'row'}, fullName(program.name)), view.runs.length > 1 ? element('td', {}, run.label) : null,
		element('td', {}, program.cpu_secs === null ? '\u2013' : duration(program.cpu_secs),
			estimated(program.cpu_estimated_secs, program.cpu_secs, duration)),
		element('td', {}, share), cell(program.memory_peak_mib, mib), amount(program.disk_read_bytes, program.disk_read_estimated_bytes),
		amount(program.disk_write_bytes, program.disk_write_estimated_bytes), cell(program.process_count, String));
};

const programSection = (view) => {
	const runs = view.runs.filter(({end}) => (end.programs || []).length > 1);
	const heads = ['Program', ...(view.runs.length > 1 ? ['Run'] : []), 'CPU time', 'Share', 'Memory, largest sample', 'Read from storage', 'Written to storage', 'Processes'];
	const all = runs.flatMap((run) => {
		const cpu = run.end.programs.reduce((sum, program) => sum + (program.cpu_secs || 0), 0);
		return run.end.programs.map((program) => ({run, program, cpu}));
	});
	const isSmall = ({program, cpu}) => program.cpu_secs < SMALL_SHARE * cpu && program.disk_read_bytes + program.disk_write_bytes < SMALL_BYTES;
	const small = all.filter(isSmall), few = small.length > 2 ? small : [];
	const table = (caption, rows) => labelled(element('table', {class: 'numbers phases'}, element('caption', {}, caption),
		element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, rows.map(({run, program, cpu}) => programRow(view, run, program, cpu)))));

	return runs.length ? element('section', {class: 'chart card', id: 'table-programs', 'aria-labelledby': 'title-programs'},
		element('div', {class: 'chart-head'}, element('h2', {id: 'title-programs'}, 'Use of each program')),
		element('div', {class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Table of the programs'}, table('Each program of the job, over the whole run.', all.filter((one) => !few.includes(one))),
			few.length ? element('details', {class: 'more'}, element('summary', {}, `${few.length} programs with less than 1\u00a0% of the CPU time and 1\u00a0MiB of traffic`), table('', few)) : null)) : null;
};
