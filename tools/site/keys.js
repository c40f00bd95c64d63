// "/" goes to the search box, as in man and less.
document.addEventListener('keydown', event => {
	const box = document.getElementById('q');
	if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === box) return;
	event.preventDefault();
	box.focus();
	box.select();
});
