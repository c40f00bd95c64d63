/*
 * The job's time as a stack of 100 %: running, waiting for a CPU, and what it waited for while none of its threads ran. A part at the top
 * that is empty is time whose wait no look has named.
 */

const STATE_WORDS = {running: 'running', runnable: 'waiting for a CPU', sleep: 'timer (sleep)', child: 'child process', file_lock: 'lock of a file', thread: 'another thread', terminal: 'input at the terminal',
	jobserver: 'job slot of make', stopped: 'stopped', other: 'not named', others: 'other waits'};
/* Waits beside running and waiting for a CPU that have a colour of their own. A line that stays below this part (%) has no area. */
const MOST_WAITS = 6, LEAST_PART = 1;

/* A wait that a look names may have begun in earlier samples, whose end saw the job run: their idle time belongs to it. */
const spreadBack = (waits, busy) => {
	for (const {values} of waits)
		for (let i = values.length - 1, more = 0; i >= 0; i--) {
			const others = waits.reduce((sum, other) => other.values === values ? sum : sum + other.values[i], 0);
			const room = Math.max(0, 100 - busy[i] - others), all = values[i] + more;
			values[i] = Math.min(all, Math.max(room, Math.min(values[i], 100)));
			more = all - values[i];
		}
};

/* Returns the lines of the stack, from the bottom. */
const stateLines = (run, layout) => {
	const total = ({values}) => values.reduce((sum, value) => sum + value, 0), none = (values) => Float64Array.from(values, (value) => value === value ? value : 0);
	const cores = run.values('cpu.process_cores_used'), delayed = run.drawn(layout, 'cpu.process_cpu_wait_secs');
	const waits = run.instances(layout).map(({name, values}) => ({name, values: none(values)}));

	if (!waits.length || !cores)
		return [];
	const ran = none(cores).map((value) => 100 * value), held = delayed ? none(delayed) : new Float64Array(ran.length);
	spreadBack(waits, ran.map((value, i) => Math.min(100, value + held[i])));
	/* Several threads may run, or wait for a CPU, at a time: then they share what no wait has. */
	const left = ran.map((_, i) => Math.max(0, 100 - waits.reduce((sum, {values}) => sum + values[i], 0)));
	const part = (values) => values.map((value, i) => value * Math.min(1, left[i] / (ran[i] + held[i] || 1)));
	const longest = waits.filter((line) => topOf(line) >= LEAST_PART).sort((a, b) => total(b) - total(a)), rest = longest.slice(MOST_WAITS);
	const lines = [{name: 'running', values: part(ran)}, {name: 'runnable', values: part(held)}, ...longest.slice(0, MOST_WAITS)].filter((line) => topOf(line) >= LEAST_PART);
	const named = coloured(layout.rows, lines, PALETTE).map((line) => ({...line, title: STATE_WORDS[line.name] || line.name}));

	return [...named, ...(rest.length ? [{name: 'others', colour: 'machine', title: rest.map(({name}) => name).join(', '), values: rest[0].values.map((_, i) => rest.reduce((sum, {values}) => sum + values[i], 0))}] : [])]
		.map((line) => ({...line, label: STATE_WORDS[line.name] || line.name, run, shown: true, dash: undefined, width: 1}));
};
