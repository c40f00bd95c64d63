/*
 * A preloaded malloc() whose Nth call in the recorder fails (BAD_MEMORY=N), as all later ones do, or crashes (BAD_MEMORY=-N).
 * With BAD_MEMORY_ONCE, later ones work. BAD_MEMORY_IN names another program than the recorder. Other programs keep theirs.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static long calls;

static int is_refused(void)
{
	const char *number = getenv("BAD_MEMORY"), *program = getenv("BAD_MEMORY_IN");
	long most = number ? atol(number) : 0;

	if (!most || strcmp(program_invocation_short_name, program ? program : "resource-tracker") != 0)
		return 0;
	if (++calls < labs(most) || (getenv("BAD_MEMORY_ONCE") && calls > labs(most)))
		return 0;
	if (most < 0)
		raise(SIGSEGV);
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return is_refused() ? NULL : __libc_realloc(old, size);
}
