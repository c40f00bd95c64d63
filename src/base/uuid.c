/* Makes identities. See uuid.h. */
#include "base/uuid.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

void uuid7_text(int64_t realtime_ms, const unsigned char random[static UUID_RANDOM_BYTES],
		char ret_text[static UUID_TEXT_BYTES])
{
	static const char DIGITS[] = "0123456789abcdef";
	unsigned char bytes[16];
	char *to = ret_text;

	for (int i = 0; i < 6; i++)
		bytes[i] = (unsigned char)((uint64_t)realtime_ms >> (40 - 8 * i));
	memcpy(bytes + 6, random, UUID_RANDOM_BYTES);
	bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0f)); /* version 7 */
	bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f)); /* the variant of RFC 9562 */
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = DIGITS[bytes[i] >> 4];
		*to++ = DIGITS[bytes[i] & 15];
	}
	*to = '\0';
}

/* A kernel before 3.17 has no getrandom(2). A container may lack the device. */
static bool fill_with_random(unsigned char *bytes, size_t length)
{
	enum { GIVE_UP_RATHER_THAN_WAIT = 1 };
	CLEANUP_CLOSE int fd = -1;

	if (syscall(SYS_getrandom, bytes, length, GIVE_UP_RATHER_THAN_WAIT) == (long)length)
		return true;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd >= 0 && read(fd, bytes, length) == (ssize_t)length;
}

void uuid7_make(int64_t realtime_ms, char ret_text[static UUID_TEXT_BYTES])
{
	unsigned char random[UUID_RANDOM_BYTES] = {0};
	int64_t now_ns;
	pid_t pid = getpid();

	if (!fill_with_random(random, sizeof(random))) {
		now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
		memcpy(random, &pid, sizeof(pid));
		memcpy(random + sizeof(pid), &now_ns, sizeof(random) - sizeof(pid));
	}
	uuid7_text(realtime_ms, random, ret_text);
}
