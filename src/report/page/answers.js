/*
 * The first screen: did the run succeed, how much did it use of its resources, what limited it, what to request next
 * time, what did it cost.
 */

const SIGNALS = {1: 'HUP', 2: 'INT', 3: 'QUIT', 6: 'ABRT', 8: 'FPE', 9: 'KILL', 11: 'SEGV', 13: 'PIPE', 15: 'TERM', 24: 'XCPU'};

/*
 * A data-from name is the path of a value in our JSON: "summary.time.wall_secs" is in the output of `summary --json`,
 * "advice.cpu" in that of `recommend --json`, "comparison..." in that of `compare-runs --json`. The page computes no
 * figure of its first screen; a test compares each with those programs.
 */
const valueAt = (raw, from) => from.split('.').reduce((value, name) => value === null || value === undefined ? null : value[name], raw);
const told = (raw, from, format) => {
	const value = valueAt(raw, from);

	return value === null || value === undefined ? '\u2013' : element('span', {'data-from': from, 'data-run': raw.index}, (format || String)(value));
};
const mib = (value) => sizeOf(value * MIB);
const ofHundred = (value) => figure(value) + '\u00a0%';

/* Returns {mood, title}: mood is good, bad or unknown. */
const verdict = (run, report) => {
	const end = run.summary.end;

	if (end.recorded && String(end.reason).startsWith('oom_kill'))
		return {mood: 'bad', title: end.reason === 'oom_kill_confirmed' ? 'Killed: out of memory' : 'Probably killed: out of memory'};
	if (end.signal)
		return {mood: 'bad', title: ['Killed by signal ', told(run.raw, 'summary.end.signal'), SIGNALS[end.signal] ? ` (${SIGNALS[end.signal]})` : '']};
	if (end.reason === 'exec_failed')
		return {mood: 'bad', title: 'Could not be started'};
	if (end.exit_code)
		return {mood: 'bad', title: ['Failed with exit status ', told(run.raw, 'summary.end.exit_code')]};
	if (report.failed)
		return {mood: 'bad', title: 'Failed'};
	if (report.succeeded && !end.exit_code)
		return {mood: 'good', title: 'Succeeded'};
	if (!end.recorded)
		return {mood: 'unknown', title: 'No end is recorded'};
	if (end.exit_code === 0)
		return {mood: 'good', title: 'Succeeded'};
	return {mood: 'unknown', title: 'Ended'};
};

const LIMITS = {machine: 'of the machine', cpuset: 'in its CPU set', 'cgroup limit': 'allowed by its limit'};
const KINDS = {pss: 'PSS', sampled: 'sampled pages', bound: 'upper bound', rss: 'RSS', estimate: 'estimate', cgroup: 'control group', largest_process: 'largest process', machine: 'machine'};

/* Draws a bar from 0 to the limit, with a tick at the maximum. */
const meter = (label, value, most, limit, text, note) => {
	const part = limit > 0 ? Math.min(1, value / limit) : 0;
	const tick = limit > 0 && most !== null ? Math.min(1, most / limit) : null;
	const fill = element('span', {class: 'meter-fill' + (part >= 0.9 ? ' meter-full' : '')});
	const bar = element('span', {class: 'meter-bar', 'aria-hidden': 'true'}, fill);

	fill.style.width = `${100 * part}%`;
	if (tick !== null) {
		const mark = element('span', {class: 'meter-tick'});
		mark.style.left = `${100 * tick}%`;
		bar.append(mark);
	}
	return element('div', {class: 'meter'},
		element('div', {class: 'meter-head'}, element('span', {class: 'meter-label'}, label), element('span', {class: 'meter-value'}, text)),
		limit > 0 ? bar : null, note ? element('div', {class: 'meter-note'}, note) : null);
};

/* Puts `between` between the parts that are present. */
const joined = (parts, between) => parts.filter(Boolean).flatMap((part, i) => i ? [between, part] : [part]);

const coresMeter = (run) => {
	const at = (name) => run.figure('cores', name), say = (name, format) => told(run.raw, 'summary.cores.' + name, format);

	if (at('mean') === null)
		return null;
	return meter('CPU' + (at('of') === 'machine' ? ' (whole machine)' : ''), at('mean'), at('max'), at('limit'),
		['mean ', say('mean', figure), ', max ', say('max', figure), ...(at('limit') === null ? [] : [' of ', say('limit')]), ' cores'],
		at('limit') === null ? null : [say('mean_of_limit_pct', ofHundred), ` of the cores ${LIMITS[at('limit_source')] || ''}`]);
};

const memoryMeter = (run) => {
	const at = (name) => run.figure('memory', name), say = (name, format) => told(run.raw, 'summary.memory.' + name, format);

	if (at('peak_mib') === null)
		return null;
	/* Pages of files that other groups read first are in the peak, but the limit does not count them. */
	const above = at('limit_source') === 'cgroup limit' && at('peak_mib') > at('limit_mib');
	return meter('Memory' + (at('of') === 'machine' ? ' (whole machine)' : ''), above ? at('peak_of_limit_pct') / 100 * at('limit_mib') : at('peak_mib'), null, at('limit_mib'),
		['peak ', say('peak_mib', mib), ...(at('limit_mib') === null ? [] : [above ? ', limit ' : ' of ', say('limit_mib', mib)])],
		joined([KINDS[at('peak_source')] || at('peak_source'),
			at('peak_elapsed_secs') === null ? null : ['after ', say('peak_elapsed_secs', duration)],
			above ? 'with pages that do not count against its limit' : null,
			at('peak_of_limit_pct') === null ? null : [say('peak_of_limit_pct', ofHundred), ` of the memory ${LIMITS[at('limit_source')] || ''}`]], ', '));
};

const gpuMeters = (run) => {
	const at = (name) => run.figure('gpu', name), say = (name, format) => told(run.raw, 'summary.gpu.' + name, format);
	/* If no GPU usage could be attributed to the job, show the whole machine's. */
	const whole = at('mean') === null ? 'machine_' : '';

	if (!(at('count') > 0) && !(at('max') > 0))
		return [];
	return [
		meter('GPU' + (whole ? ' (whole machine)' : ''), at(whole + 'mean') || 0, at(whole + 'max'), at('count'),
			['mean ', say(whole + 'mean', figure), ', max ', say(whole + 'max', figure), ' of ', say('count')],
			at('energy_joules') === null ? null : [say('energy_joules', figure), '\u00a0J']),
		meter('GPU memory' + (whole ? ' (whole machine)' : ''), at(whole + 'memory_max_mib') || 0, null, at('memory_total_mib'),
			['peak ', say(whole + 'memory_max_mib', mib), ' of ', say('memory_total_mib', mib)])];
};

/* With several GPUs each has a row, because their sum would hide idle ones. */
const gpuTable = (run) => {
	const gpus = valueAt(run.raw, 'summary.gpus') || [];
	const cells = (i, columns) => columns.map(([name, , format]) => element('td', {}, told(run.raw, `summary.gpus.${i}.${name}`, format)));
	const columns = [['mean_pct', 'Mean', ofHundred], ['max_pct', 'Max', ofHundred], ['memory_max_mib', 'Memory, peak', mib],
		['job_mean_pct', 'Job, mean', ofHundred], ['job_memory_max_mib', 'Job, memory', mib], ['energy_joules', 'Energy, J', figure]];

	return gpus.length < 2 ? null : element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Each GPU'}, element('table', {class: 'compare'},
		element('caption', {}, 'Each GPU, with its peak memory'),
		element('thead', {}, element('tr', {}, element('td', {}), columns.map(([, title]) => element('th', {scope: 'col'}, title)))),
		element('tbody', {}, gpus.map((gpu, i) => element('tr', {}, element('th', {scope: 'row', title: gpu.uuid},
			told(run.raw, `summary.gpus.${i}.index`), gpu.mig_parent ? ' (instance) ' : ' ', gpu.name === null ? null : told(run.raw, `summary.gpus.${i}.name`)),
			cells(i, columns))))));
};

/* An Xid, memory that was held without work, the units that worked: what a mean hides. */
const gpuCourses = (run) => {
	const gpus = valueAt(run.raw, 'summary.gpus') || [];

	return gpus.some((gpu) => gpu.course) ? element('dl', {class: 'facts compact'},
		gpus.map((gpu, i) => gpu.course && fact(gpus.length > 1 ? `GPU ${gpu.index}` + (gpu.mig_parent ? ' (instance)' : '') : 'GPU',
			told(run.raw, `summary.gpus.${i}.course`)))) : null;
};

/* Shows traffic in both directions: the job's if it is known, else the machine's. */
const traffic = (run) => {
	const at = (group, name) => run.figure(group, name), say = (name, format) => told(run.raw, 'summary.' + name, format);
	const whole = at('io', 'read_bytes') === null ? 'machine_' : '', net = at('network', 'received_bytes') === null ? 'machine_' : '';

	/* The bound of a job without connections is the traffic of other programs. */
	const isQuiet = !at('network', 'received_bytes') && !at('network', 'sent_bytes') && !at('network', 'connections');

	return element('dl', {class: 'facts compact'},
		fact('Storage', at('io', whole + 'read_bytes') === null && at('io', whole + 'written_bytes') === null ? null :
			['read ', say(`io.${whole}read_bytes`, sizeOf), ', written ', say(`io.${whole}written_bytes`, sizeOf), whole ? ' (machine)' : '']),
		fact('Network', at('network', net + 'received_bytes') === null ? null :
			['received ', say(`network.${net}received_bytes`, sizeOf), ', sent ', say(`network.${net}sent_bytes`, sizeOf),
				net ? ' (all processes; loopback not counted)' : at('network', 'connections') ? [' over ', say('network.connections'), ' TCP connections'] : '',
				net || at('network', 'source') !== 'bound' ? '' : isQuiet ? ' (short connections may be missing)' : [' (short connections may be missing: at most ', say('network.received_bound_bytes', sizeOf),
					' and ', say('network.sent_bound_bytes', sizeOf), ')'],
				at('network', 'source') === 'namespace' ? " (the job's own network namespace; loopback not counted)" : '']),
		fact('Disk space', at('io', 'machine_space_used_max_gb') === null ? null :
			['at most ', say('io.machine_space_used_max_gb', figure), ' GB used (machine)']));
};

/* The name of a program at the beginning has no capital. */
const ended = (text) => text + (/[.!?]$/.test(text) ? '' : '.');
const sentence = (text) => ended(text.charAt(0).toUpperCase() + text.slice(1));

const card = (title, kind, ...content) => element('section', {class: 'card ' + kind}, element('h2', {}, title), ...content);
const note = (...content) => element('p', {class: 'note'}, ...content);

const verdictCard = (run, report) => {
	const {mood, title} = verdict(run, report);

	return card('Did it work?', 'answer ' + mood,
		element('p', {class: 'headline'}, svg(ICONS[mood]), element('span', {}, title)),
		/* The kernel's wait status says no more than the words. */
		note(told(run.raw, run.figure('end', 'evidence') && run.figure('end', 'reason') !== 'exit' ? 'summary.end.evidence' : 'summary.end.in_words', sentence)),
		run.figure('end', 'failed_first') ? note(told(run.raw, 'summary.end.failed_first', (text) => /^probably /.test(text) ? sentence(text) : ended(text))) : null,
		run.figure('end', 'descendants_running') === 1 ? note('One of its processes was still running at its end.')
			: run.figure('end', 'descendants_running') ? note(told(run.raw, 'summary.end.descendants_running'), ' of its processes were still running at its end.') : null);
};

const hasCost = (run) => valueAt(run.raw, 'advice.cost.run_usd') !== null;

const timeCard = (run, report) => card(hasCost(run) ? 'How long did it take, and what did it cost?' : 'How long did it take?', '',
	element('p', {class: 'headline'}, element('span', {}, told(run.raw, 'summary.time.wall_secs', duration),
		run.figure('time', 'tree_wall_secs') ? [', and ', told(run.raw, 'summary.time.tree_wall_secs', duration), ' with its descendants'] : null),
		hasCost(run) ? element('span', {class: 'cost'}, told(run.raw, 'advice.cost.run_usd', dollars)) : null),
	run.figure('time', 'cpu_secs') === null ? note('CPU time is not recorded.') :
	note(told(run.raw, 'summary.time.cpu_secs', duration), ' of CPU time: ', told(run.raw, 'summary.time.user_secs', duration), ' user, ',
		told(run.raw, 'summary.time.system_secs', duration), ' system.'),
	hasCost(run) ? note('At ', told(run.raw, 'advice.cost.usd_per_hour', dollars), ' an hour',
		report.instance ? [' (', element('span', {'data-from': 'instance'}, report.instance), ')'] : '', '.') : null);

const bottleneckCard = (run) => card('What was the bottleneck?', '',
	element('p', {class: 'headline'}, told(run.raw, 'summary.bottlenecks.0.title')), note(told(run.raw, 'summary.bottlenecks.0.text')),
	run.summary.bottlenecks.slice(1, 3).map((other, i) =>
		note(element('strong', {}, told(run.raw, `summary.bottlenecks.${i + 1}.title`), ': '), told(run.raw, `summary.bottlenecks.${i + 1}.text`))));

/* Returns a text such as "2 cores, 512 MiB". */
const askFor = (run) => {
	const advice = run.raw.advice, say = (name, format) => told(run.raw, 'advice.' + name, format);
	const many = (name, word) => [say(name), advice[name] === 1 ? ` ${word}` : ` ${word}s`];

	return joined([advice.cpu === null ? null : many('cpu', 'core'), advice.memory === null ? null : say('memory', mib),
		advice.gpu ? [many('gpu', 'GPU'), advice.vram ? [' with ', say('vram', mib)] : ''] : null], ', ');
};

/* Describes the cheapest server that fits and the run's cost on it. */
const serverNotes = (run) => {
	const server = run.raw.advice.server, say = (name, format) => told(run.raw, 'advice.' + name, format);

	if (!server)
		return null;
	if (!server.api_reference)
		return server.problem ? note(say('server.problem', sentence)) : null;
	const saved = valueAt(run.raw, 'advice.cost.saved_pct');
	return [
		note('Cheapest server that fits: ', element('strong', {}, say('server.vendor_id'), ' ', say('server.api_reference')), server.region_id ? [' in ', say('server.region_id')] : '', ', ',
			say('server.vcpus'), ' vCPUs, ', say('server.memory_mib', mib), ', ', say('server.price_usd_per_hour', dollars), ' an hour.'),
		valueAt(run.raw, 'advice.cost.advised_usd') === null ? null :
		note('A run of the same length costs ', say('cost.advised_usd', dollars), ' there', saved === null ? '' :
			saved > 0 ? [': ', say('cost.saved_pct', ofHundred), ' less'] : saved < 0 ? [': ', say('cost.saved_pct', (value) => ofHundred(-value)), ' more'] : '', '.')];
};

const FORMS = {slurm: 'Slurm', kubernetes: 'Kubernetes', docker: 'Docker', nextflow: 'Nextflow', snakemake: 'Snakemake', metaflow: 'Metaflow'};

/* The same request in forms to copy and paste. */
const formsOf = (run) => {
	const names = Object.keys(run.raw.forms);

	return names.length ? element('details', {class: 'card wide forms'}, element('summary', {}, 'Settings for your scheduler'), element('div', {class: 'form-list'}, names.map((name) =>
		element('div', {}, element('div', {class: 'form-head'}, element('h3', {}, FORMS[name] || name), copyButton(`the settings for ${FORMS[name] || name}`, () => run.raw.forms[name])), element('pre', {tabindex: '0'}, told(run.raw, 'forms.' + name)))))) : null;
};

const adviceCard = (run, report) => {
	const advice = run.raw.advice;

	if (advice.refused)
		return card('What should the next run request?', '', element('p', {class: 'headline'}, 'Too little data for advice'), note(told(run.raw, 'advice.refused', sentence)));
	return card('What should the next run request?', '', element('p', {class: 'headline'}, element('span', {}, askFor(run))),
		/metaflow/i.test(report.integration || '') ?
			note(element('code', {}, '@resources(cpu=', told(run.raw, 'advice.cpu'), ', memory=', told(run.raw, 'advice.memory'), advice.gpu ? [', gpu=', told(run.raw, 'advice.gpu')] : '', ')')) : null,
		advice.runs > 1 ? note('From ', told(run.raw, 'advice.runs'), ' runs: ', told(run.raw, 'advice.evidence.cpu.mean_cores', figure), ' cores on average, a peak of ', told(run.raw, 'advice.evidence.memory.peak_mib', mib), '.') : null,
		serverNotes(run), adviceNotes(run));
};

/* One note is in the first screen. The others would make all cards of the row as tall. */
const adviceNotes = (run) => {
	const notes = run.raw.advice.notes.map((one, i) => note(told(run.raw, `advice.notes.${i}.text`, sentence))), more = notes.slice(1);

	return [notes.slice(0, 1), more.length ? element('details', {class: 'more notes'}, element('summary', {}, 'More notes'), more) : null];
};

/* Writes a JSON list of words as a shell would take it. */
const commandLine = (text) => {
	try {
		return JSON.parse(text).map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`).join(' ');
	} catch {
		return text;
	}
};

const machineFacts = (run, report) => {
	const start = run.start, at = (group, name) => run.figure(group, name);
	const storage = run.values(LAYOUT.storage);
	const gpus = (start.gpu_names || []).reduce((counts, name) => counts.set(name, (counts.get(name) || 0) + 1), new Map());
	const pairs = (map) => Object.entries(map || {}).map(([name, value]) => `${name}=${value}`).join(', ');

	return element('dl', {class: 'facts'},
		fact('Host', at('run', 'host')), fact('Operating system', start.os), fact('Kernel', start.kernel),
		fact('Server', start.server), fact('CPU', start.cpu_model), fact('Logical CPUs', start.cpu_count),
		fact('Memory', start.memory_total_mib ? sizeOf(start.memory_total_mib * MIB) : null),
		fact('Storage', storage && storage.length && storage[0] > 0 ? figure(storage[0]) + ' GB' : null),
		fact('GPUs', [...gpus].map(([name, count]) => `${count} \u00d7 ${name}`).join(', ')),
		fact('GPU memory', at('gpu', 'memory_total_mib') ? sizeOf(at('gpu', 'memory_total_mib') * MIB) : null),
		report.job_texts.map(([name, label]) => fact(label.trim(), start[name])),
		fact('Command', commandLine(start.command) || (start.executable ? start.executable + (start.argument_count > 1 ? ` and ${start.argument_count - 1} argument${start.argument_count > 2 ? 's' : ''}` : '') : null)),
		fact('Tags', pairs(start.tags)), fact('Scheduler', pairs(start.scheduler)),
		fact('Out of memory', at('end', 'machine_oom_kills') > 0 ? `${at('end', 'machine_oom_kills')} killed during the run` : null, 'Processes of the whole machine that the kernel killed for lack of memory'),
		fact('Allocation', run.raw.advice.allocation, 'Whether others used the machine at the same time'));
};

const recordFacts = (run) => {
	const at = (group, name) => run.figure(group, name);
	const several = (count, one, many) => count ? (count === 1 ? one : `${count} ${many}`) : null;

	return element('dl', {class: 'facts'},
		fact('File', run.raw.file), fact('Samples', `${at('run', 'samples')}` + (at('run', 'interval_secs') ? ` every ${duration(at('run', 'interval_secs'))}` : '') + (run.raw.samples_per_point > 1 ? `; ${run.raw.samples_per_point} make a point of the charts: the mean of rates, the largest of levels` : '')),
		fact('Tracker', at('tracker', 'cpu_secs') === null ? null : `${duration(at('tracker', 'cpu_secs'))} of CPU time (${figure(at('tracker', 'cpu_of_core_pct'))}\u00a0% of a core), ${withUnit(at('tracker', 'rss_max_mib'), 'MiB')}`),
		fact('Processes', at('processes', 'max') === null ? null : `at most ${at('processes', 'max')} at a time` + (at('processes', 'threads_max') === null ? '' : `, ${at('processes', 'threads_max')} threads`)),
		fact('Missed', several(at('tracker', 'missed_ticks'), 'one sample', 'samples')),
		fact('Damage', [several(at('damage', 'torn_tails'), 'the file ends in the middle of a sample', 'files end in the middle of a sample'),
			several(at('damage', 'bad_lines'), 'one line is not a sample', 'lines are not samples'),
			several(at('damage', 'clock_steps'), 'the clock was set back once', 'times the clock was set back')].filter(Boolean).join(', ')),
		fact('Runs in the file', at('run', 'runs_in_file') > 1 ? `${at('run', 'runs_in_file')}; this is the last` : null));
};

/* The page of one run: cards. */
const answersOfOne = (run, report) => element('div', {class: 'answers'},
	verdictCard(run, report), timeCard(run, report), bottleneckCard(run), adviceCard(run, report),
	card('How much did it use?', 'wide', element('div', {class: 'meters'}, coresMeter(run), memoryMeter(run), gpuMeters(run)), gpuTable(run), gpuCourses(run), traffic(run)));

/* ---- several runs ---- */

const AMOUNTS = {s: duration, MiB: mib, bytes: sizeOf};
const inUnit = (unit) => (value) => AMOUNTS[unit] ? AMOUNTS[unit](value) : Number.isInteger(value) ? String(value) : figure(value);
const inWords = (name) => name.startsWith('program_cpu[') ? 'CPU time of ' + name.slice('program_cpu['.length, -1) : (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ').replace(/\b([cg]pu)\b/i, (word) => word.toUpperCase()).replace(/^Io\b/, 'I/O');

/* Between single runs, a smaller change may be chance. */
const TELLING_PCT = 5;
/* From here on a factor is easier to read than percent. */
const LEAST_FACTOR_PCT = 900;
/* Wall time, CPU time and memory come first, changed or not. */
const FIRST_FIGURES = 3;

/* Less time, memory and traffic is better. More cores or a higher rate are neither. */
const moodOfChange = (side, unit) => {
	const telling = side.noise_pct === null ? Math.abs(side.change_pct) >= TELLING_PCT : side.beyond_noise;

	return telling && AMOUNTS[unit] ? (side.change_pct > 0 ? ' worse' : ' better') : '';
};

/* "epoch.memory_max" is "Phase epoch: largest memory sample". */
const phaseFigure = (name) => {
	const point = name.lastIndexOf('.'), what = name.slice(point + 1).replaceAll('_', ' ');

	return `Phase ${name.slice(0, point)}: ${{secs: 'time', 'memory max': 'largest memory sample'}[what] || what}`;
};

const changeOf = (report, from, side, unit) => {
	if (side.comparable === false)
		return element('span', {class: 'change'}, 'not comparable: measured in another way');
	if (side.change_pct === null || side.negligible || Math.abs(side.change_pct) < 0.05)
		return null;
	return element('span', {class: 'change' + (side.beyond_noise ? ' beyond' : '') + moodOfChange(side, unit)},
		told(report, from + '.change_pct', (value) => value >= LEAST_FACTOR_PCT ? `x\u00a0${figure(1 + value / 100)}` : (value > 0 ? '+' : '') + figure(value) + '\u00a0%'),
		side.noise_pct === null ? null : [' (noise ', told(report, from + '.noise_pct', ofHundred), ')']);
};

/* Shows the result of compare-runs: a column for each side. */
const comparisonTable = (report) => {
	const {sides, metrics, phases} = report.comparison;
	const telling = ({sides: all, unit}, i) => i < FIRST_FIGURES || all.some((side) => side.change_pct !== null && !side.negligible && moodOfChange(side, unit));
	/* Other programs' traffic says nothing about a job, and a phase of one run has nothing to compare. */
	const ofJobs = runs.some((run) => run.figure('run', 'tracked_pid') !== null);
	const isNothing = (group, {name, sides: all}) => all.every((side) => !side.mean) || (ofJobs && name.startsWith('machine_')) || (group === 'phases' && all.some((side) => side.mean === null));
	const row = (group, metric, i) => isNothing(group, metric) ? null :
		element('tr', {}, element('th', {scope: 'row'}, group === 'phases' ? phaseFigure(metric.name) : inWords(metric.name)), metric.sides.map((side, j) => {
			const from = `comparison.${group}.${i}.sides.${j}`;
			return element('td', {}, told(report, from + '.mean', inUnit(metric.unit)), changeOf(report, from, side, metric.unit));
		}));

	const part = (told) => [['metrics', metrics], ['phases', phases]].flatMap(([group, all]) => all.map((metric, i) => telling(metric, group === 'metrics' ? i : FIRST_FIGURES) === told ? row(group, metric, i) : null)).filter(Boolean);
	const table = (caption, rows) => element('table', {class: 'compare'}, element('caption', {}, caption),
		element('thead', {}, element('tr', {}, element('td', {}), sides.map((side, i) =>
			element('th', {scope: 'col'}, report.shortNames[i], side.runs > 1 ? [' (', told(report, `comparison.sides.${i}.runs`), ' runs)'] : '')))),
		element('tbody', {}, rows));
	const others = part(false);

	return element('div', {class: 'scroll card', tabindex: '0', role: 'region', 'aria-label': 'Comparison'},
		table(['Wall time, CPU time and memory, then the largest changes, in percent of ', element('strong', {}, report.shortNames[0]),
			sides.some((side) => side.runs > 1) ? '. Means of several runs; changes beyond the noise are bold' : ''], part(true)),
		others.length ? element('details', {class: 'more'}, element('summary', {}, 'Figures that hardly changed'), table('In percent of the same run', others)) : null);
};

/* The sentences of compare-runs, coloured by the change in wall time of the last side. */
const comparisonCard = (report) => {
	const wall = report.comparison && report.comparison.metrics.find(({name}) => name === 'wall_time');
	const last = wall && wall.sides[wall.sides.length - 1];
	const mood = last && last.change_pct !== null && !last.negligible ? {worse: 'bad', better: 'good'}[moodOfChange(last, wall.unit).trim()] : null;

	return report.comparison && report.comparison.verdict ? card('What changed?', 'answer ' + (mood || 'unknown'),
		element('p', {class: 'headline'}, svg(mood === 'bad' ? ICONS.slower : mood === 'good' ? ICONS.faster : ICONS.same), told(report, 'comparison.verdict'))) : null;
};

const answersOfSeveral = (runs, report) => {
	const row = (name, cell) => element('tr', {}, element('th', {scope: 'row'}, name), runs.map((run) => cell(run)));
	const figureRow = (name, group, figureName, format) => runs.every((run) => run.figure(group, figureName) === null) ? null :
		row(name, (run) => element('td', {}, told(run.raw, `summary.${group}.${figureName}`, format)));
	const result = (run) => {
		const {mood, title} = verdict(run, report);
		return element('td', {class: 'answer ' + mood}, svg(ICONS[mood]), ' ', title);
	};

	return element('div', {class: 'answers stacked'}, comparisonCard(report), element('div', {class: 'scroll card', tabindex: '0', role: 'region', 'aria-label': 'Each run'}, element('table', {class: 'compare'},
		element('caption', {}, 'Each run'),
		element('thead', {}, element('tr', {}, element('td', {}), runs.map((run) => element('th', {scope: 'col'}, run.label)))),
		element('tbody', {}, row('Result', result),
			row('Bottleneck', (run) => element('td', {}, told(run.raw, 'summary.bottlenecks.0.title'))),
			row('Request next time', (run) => element('td', {}, run.raw.advice.refused ? '\u2013' : askFor(run))),
			runs.some(hasCost) ? row('Cost', (run) => element('td', {}, told(run.raw, 'advice.cost.run_usd', dollars))) : null,
			figureRow('Wall time', 'time', 'wall_secs', duration), figureRow('Memory peak', 'memory', 'peak_mib', mib),
			figureRow('Cores available', 'cores', 'limit'), figureRow('Memory available', 'memory', 'limit_mib', mib),
			figureRow('Samples', 'run', 'samples')))),
	report.comparison ? comparisonTable(report) : null);
};
