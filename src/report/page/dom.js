const systemTheme = matchMedia('(prefers-color-scheme: dark)');

/* The colours of page.css for canvases. Asking the browser takes long, so each is asked for once in a theme. */
const askedColours = new Map();
const colour = (name) => {
	const key = `${document.documentElement.dataset.theme || systemTheme.matches} ${name}`;

	if (!askedColours.has(key))
		askedColours.set(key, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
	return askedColours.get(key);
};

/* Creates elements. Text of a recording becomes a text node, never markup. */

const element = (tag, properties, ...children) => {
	const made = document.createElement(tag);

	for (const [name, value] of Object.entries(properties || {})) {
		if (name === 'class')
			made.className = value;
		else if (name.startsWith('on'))
			made.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(name, value === true ? '' : value);
	}
	made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
	return made;
};

const svg = (paths, properties) => {
	const made = document.createElementNS('http://www.w3.org/2000/svg', 'svg');

	for (const [name, value] of Object.entries({viewBox: '0 0 20 20', 'aria-hidden': 'true', class: 'icon', ...properties}))
		made.setAttribute(name, value);
	for (const path of paths) {
		const part = document.createElementNS('http://www.w3.org/2000/svg', 'path');
		part.setAttribute('d', path);
		made.append(part);
	}
	return made;
};

const ICONS = {
	good: ['M4 10.5l4 4 8-9'],
	bad: ['M5 5l10 10M15 5L5 15'],
	slower: ['M10 16V4M5 9l5-5 5 5'],
	faster: ['M10 4v12M5 11l5 5 5-5'],
	same: ['M4 7.5h12M4 12.5h12'],
	unknown: ['M10 4.5v7M10 15v.5'],
};

/* Returns a "name value" pair of a fact list; nothing without a value. */
const fact = (name, value, title) =>
	value === null || value === undefined || value === '' ? [] :
	[element('div', {class: 'fact', title}, element('dt', {}, name), element('dd', {}, value))];
