// Searches the sections of all pages for all words: search.html?q=WORDS. INDEX has [page, heading, link, text] for each section.
const MOST = 40, BEFORE = 60, SNIPPET = 220;
const box = document.getElementById('q'), list = document.getElementById('found'), hint = document.getElementById('hint');

// A word in a heading counts more than one in the text, and more if a word of the page begins with it.
function score(section, words) {
	const [page, heading, , text] = section.map(part => part.toLowerCase());
	let sum = 0;
	for (const word of words) {
		const points = (heading.includes(word) ? 8 : 0) + (page.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0);
		if (!points) return 0;
		sum += points + (` ${heading} ${text}`.includes(` ${word}`) ? 2 : 0);
	}
	return sum;
}

// Adds a text to an element, with the words marked.
function addMarked(element, text, words) {
	const lower = text.toLowerCase();
	for (let at = 0; at < text.length;) {
		const hits = words.map(word => [lower.indexOf(word, at), word.length]).filter(hit => hit[0] >= 0).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
		const [start, length] = hits[0] || [text.length, 0];
		element.append(text.slice(at, start));
		if (length) element.append(Object.assign(document.createElement('mark'), {textContent: text.slice(start, start + length)}));
		at = start + length;
	}
}

function snippet(text, words) {
	const found = words.map(word => text.toLowerCase().indexOf(word)).filter(at => at >= 0);
	const start = found.length ? Math.max(0, Math.min(...found) - BEFORE) : 0;
	return (start ? '... ' : '') + text.slice(start, start + SNIPPET) + (start + SNIPPET < text.length ? ' ...' : '');
}

function show() {
	const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
	const hits = words.length ? INDEX.map(section => [score(section, words), section]).filter(hit => hit[0]) : [];
	hits.sort((a, b) => b[0] - a[0]);
	list.replaceChildren();
	document.getElementById('all').hidden = words.length > 0;
	hint.textContent = !words.length ? 'All pages:' : hits.length > MOST ? `${hits.length} sections, the best ${MOST}:` : `${hits.length} sections`;
	for (const [, [page, heading, link, text]] of hits.slice(0, MOST)) {
		const item = document.createElement('li'), anchor = Object.assign(document.createElement('a'), {href: link});
		addMarked(anchor, heading && heading !== page ? `${page}: ${heading}` : page, words);
		const quote = document.createElement('span');
		addMarked(quote, snippet(text, words), words);
		item.append(anchor, quote);
		list.append(item);
	}
}

box.value = new URLSearchParams(location.search).get('q') || '';
box.addEventListener('input', show);
show();
