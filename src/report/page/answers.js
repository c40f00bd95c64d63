/* The first screen: did it work, what did it use of what it had, what held it up, what to ask for next, what it cost. */

const SIGNALS = {1: 'HUP', 2: 'INT', 3: 'QUIT', 6: 'ABRT', 8: 'FPE', 9: 'KILL', 11: 'SEGV', 13: 'PIPE', 15: 'TERM', 24: 'XCPU'};

/* {mood, title}: mood is good, bad or unknown. */
const verdict = (run, failed) => {
	const end = run.summary.end;

	if (end.recorded && String(end.reason).startsWith('oom_kill'))
		return {mood: 'bad', title: end.reason === 'oom_kill_confirmed' ? 'Killed: out of memory' : 'Probably killed: out of memory'};
	if (end.signal)
		return {mood: 'bad', title: `Killed by signal ${end.signal}` + (SIGNALS[end.signal] ? ` (${SIGNALS[end.signal]})` : '')};
	if (end.reason === 'exec_failed')
		return {mood: 'bad', title: 'Could not be started'};
	if (end.exit_code)
		return {mood: 'bad', title: `Failed with exit status ${end.exit_code}`};
	if (failed)
		return {mood: 'bad', title: 'Failed'};
	if (!end.recorded)
		return {mood: 'unknown', title: 'No end is recorded'};
	if (end.exit_code === 0)
		return {mood: 'good', title: 'Succeeded'};
	return {mood: 'unknown', title: 'Ended'};
};

const LIMITS = {machine: 'of the machine', cpuset: 'in its CPU set', 'cgroup limit': 'allowed by its limit'};
const KINDS = {pss: 'PSS', rss: 'RSS', estimate: 'estimate', cgroup: 'control group', largest_process: 'largest process', machine: 'machine'};

/*
 * What the run waited for most, by what the record says: [{title, text}], the weightiest first. Shares are of the wall
 * time; a tenth of it is what one would notice.
 */
const bottlenecks = (run) => {
	const wall = run.figure('time', 'wall_secs') || 0;
	const share = (name) => wall > 0 ? (run.figure('waiting', name) || 0) / wall : 0;
	const shared = run.figure('waiting', 'pressure_source') === 'host' ? ' Pressure is of the whole machine, which others may cause.' : '';
	const cores = run.figure('cores', 'mean'), limit = run.figure('cores', 'limit');
	const memory = run.figure('memory', 'peak_of_limit_pct');
	const gpus = run.figure('gpu', 'count'), gpu = run.figure('gpu', 'mean');
	const found = [];
	const add = (weight, title, text) => found.push({weight, title, text});

	if (String(run.summary.end.reason).startsWith('oom_kill'))
		add(9, 'Memory', 'It was killed for lack of memory.');
	else if (memory >= 90)
		add(1 + memory / 100, 'Memory', `Its peak reached ${figure(memory)}\u00a0% of what it may use.`);
	if (share('throttled_secs') >= 0.1)
		add(1 + share('throttled_secs'), 'CPU limit', `Its CPUs were held back for ${duration(run.figure('waiting', 'throttled_secs'))} by the limit of ${figure(limit)} cores.`);
	if (limit > 0 && cores >= 0.85 * limit)
		add(1 + cores / limit, 'CPU', `${figure(cores)} of ${figure(limit)} cores were busy on average.`);
	if (share('io_pressure_secs') >= 0.1)
		add(share('io_pressure_secs'), 'Disk', `Something waited for I/O during ${percent(share('io_pressure_secs'))} of the time.${shared}`);
	if (share('memory_pressure_secs') >= 0.1)
		add(share('memory_pressure_secs'), 'Memory pressure', `Something waited for memory during ${percent(share('memory_pressure_secs'))} of the time.${shared}`);
	if (share('cpu_pressure_secs') >= 0.2 && !(cores >= 0.85 * limit))
		add(share('cpu_pressure_secs'), 'Share of the CPUs', `Something waited for a CPU during ${percent(share('cpu_pressure_secs'))} of the time.${shared}`);
	if (gpus > 0 && gpu >= 0.85 * gpus)
		add(1, 'GPU', `${figure(gpu)} of ${gpus} GPUs were busy on average.`);
	if (limit > 1 && cores >= 0.8 && cores <= 1.15)
		add(0.5, 'One core', `It kept one of ${figure(limit)} cores busy: most of it runs in one thread.`);
	found.sort((a, b) => b.weight - a.weight);
	return found;
};

/* Nothing that is recorded held it up: say what there is to say. */
const noBottleneck = (run) => {
	const cores = run.figure('cores', 'mean'), limit = run.figure('cores', 'limit');

	if (cores !== null && limit > 0 && cores < 0.3 * Math.min(1, limit))
		return {title: 'Nothing measured here', text: 'CPU, memory and disk were idle most of the time: it slept, or waited for something outside this machine.'};
	return {title: 'None stands out', text: 'It was not throttled, not short of memory, and no core limit was reached.'};
};

/* A bar from 0 to what there is, with a tick at the maximum. */
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

const usageOf = (run) => {
	const at = (group, name) => run.figure(group, name);
	const who = at('cores', 'of') === 'machine' ? ' (whole machine)' : '';
	const peakAt = at('memory', 'peak_elapsed_secs');
	const meters = [];

	if (at('cores', 'mean') !== null)
		meters.push(meter('CPU' + who, at('cores', 'mean'), at('cores', 'max'), at('cores', 'limit'),
			`mean ${figure(at('cores', 'mean'))}, max ${at('cores', 'max') === null ? '\u2013' : figure(at('cores', 'max'))}` +
			(at('cores', 'limit') === null ? ' cores' : ` of ${figure(at('cores', 'limit'))} cores`),
			at('cores', 'limit') === null ? null : `${figure(at('cores', 'mean_of_limit_pct'))}\u00a0% of the cores ${LIMITS[at('cores', 'limit_source')] || ''}`));
	if (at('memory', 'peak_mib') !== null)
		meters.push(meter('Memory' + who, at('memory', 'peak_mib'), null, at('memory', 'limit_mib'),
			`peak ${sizeOf(at('memory', 'peak_mib') * MIB)}` + (at('memory', 'limit_mib') === null ? '' : ` of ${sizeOf(at('memory', 'limit_mib') * MIB)}`),
			[KINDS[at('memory', 'peak_source')] || at('memory', 'peak_source'),
				peakAt === null ? null : `seen at ${clock(peakAt, 1)}`,
				at('memory', 'limit_mib') === null ? null : `${figure(at('memory', 'peak_of_limit_pct'))}\u00a0% of the memory ${LIMITS[at('memory', 'limit_source')] || ''}`
			].filter(Boolean).join(', ')));
	if (at('gpu', 'count') > 0 || at('gpu', 'max') > 0) {
		meters.push(meter('GPU', at('gpu', 'mean') || 0, at('gpu', 'max'), at('gpu', 'count'),
			`mean ${withUnit(at('gpu', 'mean'), 'GPUs')}, max ${withUnit(at('gpu', 'max'), 'GPUs')} of ${at('gpu', 'count')}`));
		meters.push(meter('GPU memory', at('gpu', 'memory_max_mib') || 0, null, at('gpu', 'memory_total_mib'),
			`peak ${withUnit(at('gpu', 'memory_max_mib'), 'MiB')} of ${withUnit(at('gpu', 'memory_total_mib'), 'MiB')}`));
	}
	return meters;
};

/* Both directions, of the job where that is known. */
const traffic = (run) => {
	const at = (group, name) => run.figure(group, name);
	const job = at('io', 'read_bytes') !== null;
	const read = at('io', job ? 'read_bytes' : 'machine_read_bytes'), written = at('io', job ? 'written_bytes' : 'machine_written_bytes');
	const received = at('network', 'machine_received_bytes');

	return element('dl', {class: 'facts compact'},
		fact('Storage', read === null && written === null ? null : `read ${sizeOf(read || 0)}, written ${sizeOf(written || 0)}` + (job ? '' : ' (machine)')),
		fact('Network', received === null ? null : `received ${sizeOf(received)}, sent ${sizeOf(at('network', 'machine_sent_bytes') || 0)} (machine)`),
		fact('Disk space', at('io', 'machine_space_used_max_gb') === null ? null : `at most ${figure(at('io', 'machine_space_used_max_gb'))} GB used (machine)`));
};

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

const card = (title, kind, ...content) => element('section', {class: 'card ' + kind}, element('h2', {}, title), ...content);

const verdictCard = (run, report) => {
	const {mood, title} = verdict(run, report.failed);
	const evidence = run.summary.end.evidence;

	return card('Did it work?', 'answer ' + mood,
		element('p', {class: 'headline'}, svg(ICONS[mood]), element('span', {}, title)),
		element('p', {class: 'note'}, evidence || run.raw.end),
		run.figure('end', 'descendants_running') ? element('p', {class: 'note'}, `${run.figure('end', 'descendants_running')} of its processes still ran at its end.`) : null);
};

const timeCard = (run, report) => {
	const wall = run.figure('time', 'wall_secs'), cpu = run.figure('time', 'cpu_secs');
	const cost = report.usd_per_hour ? dollars(report.usd_per_hour * wall / 3600) : null;

	return card(cost ? 'What did it take, and cost?' : 'How long did it take?', '',
		element('p', {class: 'headline'}, duration(wall), cost ? element('span', {class: 'cost'}, cost) : null),
		element('p', {class: 'note'}, cpu === null ? 'CPU time is not recorded.' : `${duration(cpu)} of CPU time: ${duration(run.figure('time', 'user_secs') || 0)} user, ${duration(run.figure('time', 'system_secs') || 0)} system.`),
		cost ? element('p', {class: 'note'}, `At $${report.usd_per_hour} an hour.`) : null);
};

const bottleneckCard = (run) => {
	const found = bottlenecks(run);
	const first = found[0] || noBottleneck(run);

	return card('What held it up?', '', element('p', {class: 'headline'}, first.title), element('p', {class: 'note'}, first.text),
		found.slice(1, 3).map((other) => element('p', {class: 'note'}, element('strong', {}, other.title + ': '), other.text)));
};

/* "2 cores, 512 MiB" */
const askFor = (advice) => {
	const parts = [];

	if (advice.cpu !== null)
		parts.push(`${advice.cpu} core${advice.cpu === 1 ? '' : 's'}`);
	if (advice.memory !== null)
		parts.push(sizeOf(advice.memory * MIB));
	if (advice.gpu)
		parts.push(`${advice.gpu} GPU${advice.gpu === 1 ? '' : 's'}` + (advice.vram ? ` with ${sizeOf(advice.vram * MIB)}` : ''));
	return parts.join(', ');
};

const adviceCard = (run, report) => {
	const advice = run.raw.advice;

	if (!advice)
		return null;
	if (advice.refused)
		return card('What to ask for next?', '', element('p', {class: 'headline'}, 'Too little to say'), element('p', {class: 'note'}, advice.refused));
	const metaflow = `@resources(cpu=${advice.cpu}, memory=${advice.memory}${advice.gpu ? `, gpu=${advice.gpu}` : ''})`;
	return card('What to ask for next?', '', element('p', {class: 'headline'}, askFor(advice)),
		/metaflow/i.test(report.integration || '') ? element('p', {class: 'note'}, element('code', {}, metaflow)) : null,
		(advice.notes || []).slice(0, 3).map((note) => element('p', {class: 'note'}, sentence(note.text))));
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
		fact('Project', start.project_name), fact('Stage', start.stage_name), fact('Task', start.task_name), fact('Team', start.team),
		fact('Environment', start.env), fact('Image', start.container_image), fact('Orchestrator', start.orchestrator),
		fact('Command', start.command || (start.executable ? start.executable + (start.argument_count > 1 ? ` and ${start.argument_count - 1} argument${start.argument_count > 2 ? 's' : ''}` : '') : null)),
		fact('Tags', pairs(start.tags)), fact('Scheduler', pairs(start.scheduler)),
		fact('Allocation', run.raw.advice ? run.raw.advice.allocation : null, 'Whether others used the machine at the same time'));
};

const recordFacts = (run) => {
	const at = (group, name) => run.figure(group, name);
	const several = (count, one, many) => count ? (count === 1 ? one : `${count} ${many}`) : null;

	return element('dl', {class: 'facts'},
		fact('File', run.raw.file), fact('Samples', `${at('run', 'samples')}` + (at('run', 'interval_secs') ? ` every ${duration(at('run', 'interval_secs'))}` : '')),
		fact('Tracker', at('tracker', 'cpu_secs') === null ? null : `${duration(at('tracker', 'cpu_secs'))} of CPU time (${figure(at('tracker', 'cpu_of_core_pct'))}\u00a0% of a core), ${withUnit(at('tracker', 'rss_max_mib'), 'MiB')}`),
		fact('Processes', at('processes', 'max') === null ? null : `at most ${at('processes', 'max')} at a time` + (at('processes', 'threads_max') === null ? '' : `, ${at('processes', 'threads_max')} threads`)),
		fact('Missed', several(at('tracker', 'missed_ticks'), 'one sample', 'samples')),
		fact('Damage', [several(at('damage', 'torn_tails'), 'the file ends in the middle of a sample', 'files end in the middle of a sample'),
			several(at('damage', 'bad_lines'), 'one line is no sample', 'lines are no samples'),
			several(at('damage', 'clock_steps'), 'the clock was set back once', 'times the clock was set back')].filter(Boolean).join(', ')),
		fact('Runs in the file', at('run', 'runs_in_file') > 1 ? `${at('run', 'runs_in_file')}; this is the last` : null));
};

/* One run: cards. */
const answersOfOne = (run, report) => element('div', {class: 'answers'},
	verdictCard(run, report), timeCard(run, report), bottleneckCard(run), adviceCard(run, report),
	card('What did it use of what it had?', 'wide', element('div', {class: 'meters'}, usageOf(run)), traffic(run)));

/* Several runs: a column each, and how far from the first. */
const COMPARED = [
	['Wall time', 'time', 'wall_secs', duration], ['CPU time', 'time', 'cpu_secs', duration],
	['Cores, mean', 'cores', 'mean', figure], ['Cores, max', 'cores', 'max', figure], ['Cores it had', 'cores', 'limit', figure],
	['Memory peak', 'memory', 'peak_mib', (value) => sizeOf(value * MIB)], ['Memory mean', 'memory', 'mean_mib', (value) => sizeOf(value * MIB)],
	['Memory it had', 'memory', 'limit_mib', (value) => sizeOf(value * MIB)],
	['Read from storage', 'io', 'read_bytes', sizeOf], ['Written to storage', 'io', 'written_bytes', sizeOf],
	['Received (machine)', 'network', 'machine_received_bytes', sizeOf], ['Sent (machine)', 'network', 'machine_sent_bytes', sizeOf],
	['GPUs, mean', 'gpu', 'mean', figure], ['GPU memory', 'gpu', 'memory_max_mib', (value) => sizeOf(value * MIB)],
	['Throttled', 'waiting', 'throttled_secs', duration], ['Waiting for I/O', 'waiting', 'io_pressure_secs', duration],
	['Processes, max', 'processes', 'max', String], ['Samples', 'run', 'samples', String],
];

const comparedCell = (run, first, group, name, format) => {
	const value = run.figure(group, name), base = first.figure(group, name);
	const change = run !== first && value !== null && base ? (value - base) / base : null;

	return element('td', {}, value === null ? '\u2013' : format(value),
		change === null || Math.abs(change) < 0.0005 ? null :
		element('span', {class: 'change'}, (change > 0 ? '+' : MINUS) + figure(Math.abs(change) * 100) + '\u00a0%'));
};

const answersOfSeveral = (runs, report) => {
	const first = runs[0];
	const rows = COMPARED.filter(([, group, name]) => runs.some((run) => run.figure(group, name) !== null && run.figure(group, name) !== 0));
	const cell = (run) => {
		const {mood, title} = verdict(run, report.failed);
		return element('td', {class: 'answer ' + mood}, svg(ICONS[mood]), ' ', title);
	};
	const row = (name, cells) => element('tr', {}, element('th', {scope: 'row'}, name), cells);

	return element('div', {class: 'scroll card'}, element('table', {class: 'compare'},
		element('caption', {}, 'Runs side by side; differences are from the first'),
		element('thead', {}, element('tr', {}, element('td', {}), runs.map((run) => element('th', {scope: 'col'}, run.label)))),
		element('tbody', {}, row('Result', runs.map(cell)),
			row('Held up by', runs.map((run) => element('td', {}, (bottlenecks(run)[0] || noBottleneck(run)).title))),
			row('To ask for next', runs.map((run) => element('td', {}, run.raw.advice && !run.raw.advice.refused ? askFor(run.raw.advice) : '\u2013'))),
			report.usd_per_hour ? row('Cost', runs.map((run) => element('td', {}, dollars(report.usd_per_hour * run.figure('time', 'wall_secs') / 3600)))) : null,
			rows.map(([title, group, name, format]) => row(title, runs.map((run) => comparedCell(run, first, group, name, format)))))));
};
