// Records this Node program while it works, and reads each sample as it comes: no native module is needed.
//
//	node examples/node_stream.mjs
//
// $TRACKER is the recorder (default: resource-tracker, from PATH). An unknown value is null.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const recorder = spawn(process.env.TRACKER ?? 'resource-tracker', ['--pid', process.pid, '-i', '0.05'], {
	stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve, reject) => recorder.on('error', reject).on('exit', resolve));
const samples = [];
const begun = new Promise((resolve) => {
	createInterface({ input: recorder.stdout }).on('line', (line) => {
		samples.push(JSON.parse(line));
		resolve();
	});
});

// The recorder is a child of this program, but not a part of the job.
await Promise.race([begun, ended]);
let sum = 0;
for (let i = 1; i < 100000000; i++) sum += 1 / i;
recorder.kill('SIGINT');
await Promise.all([ended, once(recorder.stdout, 'close')]);

const end = samples.at(-1).run_end;
const most = Math.max(...samples.map((sample) => sample.cpu.process_memory_mib ?? 0));
console.log(`the sum is ${sum.toFixed(6)}`);
console.log(`${samples.length} samples, ${end.tree_utime_secs} s of user time, at most ${most} MiB`);
