/*
 * Formats amounts for people, with the rules of src/table/units.c, so that the page and `summary` print the same
 * text.
 */

const MINUS = '\u2212';

/* toFixed() that rounds a tie to the even digit, as C's printf does. */
const fixed = (value, decimals) => {
	const scaled = Math.abs(value) * 10 ** decimals, below = Math.floor(scaled);
	const inTheMiddle = scaled - below === 0.5 && Number.isInteger(value * 2 ** (decimals + 1));

	return inTheMiddle && below % 2 === 0 ? (Math.sign(value) * below / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
};

const figure = (value) => {
	const size = Math.abs(value);

	if (size !== 0 && size < 0.0005)
		return '< 0.001';
	const text = fixed(value, size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.1 ? 2 : 3);
	return text.replace('-', MINUS);
};

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const sizeOf = (bytes) => {
	let unit = 0, value = bytes;

	while (unit < SIZES.length - 1 && Math.abs(value) >= 1024 * 0.9995) {
		value /= 1024;
		unit++;
	}
	if (bytes === 0)
		return '0';
	return (unit ? figure(value) : fixed(value, 0)) + '\u00a0' + SIZES[unit];
};
const MIB = 1048576;

const duration = (secs) => {
	const two = (larger, largerUnit, smaller, smallerUnit) =>
		`${larger}\u00a0${largerUnit}` + (smaller ? ` ${smaller}\u00a0${smallerUnit}` : '');

	if (secs < 0.0995)
		return figure(secs * 1000) + '\u00a0ms';
	if (secs < 59.95)
		return fixed(secs, secs < 9.995 ? 2 : 1) + '\u00a0s';
	const whole = Math.round(secs);
	if (whole < 3600)
		return two(Math.floor(whole / 60), 'min', whole % 60, 's');
	if (whole < 86400)
		return two(Math.floor(whole / 3600), 'h', Math.floor(whole % 3600 / 60), 'min');
	return two(Math.floor(whole / 86400), 'd', Math.floor(whole % 86400 / 3600), 'h');
};

/* Formats a value of a chart or column with its unit. */
const withUnit = (value, unit) => {
	if (value === null || value === undefined || Number.isNaN(value))
		return '\u2013';
	switch (unit) {
	case 'MiB':
		return sizeOf(value * MIB);
	case 'bytes':
		return sizeOf(value);
	case 'bytes/s':
		return value ? sizeOf(value) + '/s' : '0';
	case 'GB':
	case '%':
	case 'W':
	case '\u00b0C':
		return figure(value) + '\u00a0' + unit;
	case 'cores':
	case 'GPUs':
		return figure(value);
	default:
		return Number.isInteger(value) ? String(value) : figure(value);
	}
};

/* The decimals that a multiple of `step` needs: 1 for 2.5, so that 7.5 does not become 8. */
const decimalsOf = (step, most) => {
	let decimals = 0;

	while (decimals < most && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-3 * step * 10 ** decimals)
		decimals++;
	return decimals;
};

/* Formats a value on an axis, with just enough decimals to tell neighbouring ticks apart. */
const onAxis = (value, unit, step) => {
	if (value === 0)
		return '0';
	if (unit === 'MiB' || unit === 'bytes' || unit === 'bytes/s') {
		const [bytes, stepBytes] = unit === 'MiB' ? [value * MIB, step * MIB] : [value, step];
		const power = Math.min(4, Math.floor(Math.log2(Math.abs(bytes)) / 10 + 1e-9));
		const scale = 1024 ** Math.max(0, power);
		const decimals = decimalsOf(stepBytes / scale, 3);
		return String(Number((bytes / scale).toFixed(decimals))) + '\u00a0' + SIZES[Math.max(0, power)] + (unit === 'bytes/s' ? '/s' : '');
	}
	const decimals = decimalsOf(step, 6);
	return value.toFixed(decimals) + (['GB', '%', 'W', '\u00b0C'].includes(unit) ? '\u00a0' + unit : '');
};

/* Formats a time in the run: 1:02:03, 0:42.5. It has as many decimals as `step` needs. */
const clock = (secs, step) => {
	const decimals = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step) - 1e-9));
	const scale = 10 ** decimals;
	const all = Math.round(Math.abs(secs) * scale);
	const whole = Math.floor(all / scale);
	const hours = Math.floor(whole / 3600);
	const rest = decimals ? '.' + String(all % scale).padStart(decimals, '0') : '';

	return (secs < 0 && all ? MINUS : '') + (hours ? `${hours}:${two(Math.floor(whole % 3600 / 60))}` : Math.floor(whole / 60)) +
		':' + two(whole % 60) + rest;
};

const moment = (timestamp) => {
	const date = new Date(timestamp * 1000);

	return Number.isFinite(timestamp) && !Number.isNaN(date.getTime()) ?
		date.toISOString().slice(0, 19).replace('T', ' ') + ' UTC' : '';
};

const two = (number) => String(number).padStart(2, '0');

/* The reader's time zone at that moment: "+01:00", "UTC". */
const zoneOf = (date) => {
	const minutes = -date.getTimezoneOffset(), size = Math.abs(minutes);

	return minutes ? `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}` : 'UTC';
};

const dayOf = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
const hourOf = (date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;

/* The reader's local time: "2026-01-31 14:05:07 +01:00". */
const localMoment = (timestamp) => {
	const date = new Date(timestamp * 1000);

	return Number.isNaN(date.getTime()) || timestamp === null ? '' : `${dayOf(date)} ${hourOf(date)} ${zoneOf(date)}`;
};

/* The local time of a day, as exact as `step` needs. */
const wallClock = (timestamp, step) => {
	const date = new Date(Math.round(timestamp * 1000));

	if (Number.isNaN(date.getTime()))
		return '';
	return (step >= 86400 ? dayOf(date) : step >= 60 ? hourOf(date).slice(0, 5) : hourOf(date)) + (step < 1 ? '.' + String(date.getMilliseconds()).padStart(3, '0').slice(0, step < 0.01 ? 3 : 1) : '');
};

/* For programs: ISO 8601 with the local offset. */
const isoMoment = (timestamp) => {
	const date = new Date(Math.round(timestamp * 1000)), zone = zoneOf(date);

	return `${dayOf(date)}T${hourOf(date)}.${String(date.getMilliseconds()).padStart(3, '0')}${zone === 'UTC' ? 'Z' : zone}`;
};

const dollars = (amount) => '$' + (amount >= 1 ? amount.toFixed(2) : amount.toFixed(6).replace(/0{1,4}$/, ''));
const percent = (part) => figure(part * 100) + '\u00a0%';
