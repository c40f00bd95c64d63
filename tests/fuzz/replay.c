/*
 * Runs a fuzz target over all files of the named folders and files: libFuzzer's corpus as an ordinary test,
 * with any compiler.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	struct stat status;
	size_t length;

	if (!file || fstat(fileno(file), &status) < 0) {
		perror(path);
		exit(1);
	}
	/* Exactly as long as the input, so that sanitisers see a read past its end. */
	length = (size_t)status.st_size;
	bytes = malloc(length ? length : 1);
	if (!bytes || fread(bytes, 1, length, file) != length) {
		perror(path);
		exit(1);
	}
	fclose(file);
	(void)LLVMFuzzerTestOneInput(bytes, length);
	free(bytes);
	return 1;
}

static int replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int files = 0;

	if (!dir)
		return replay_file(folder);
	while ((entry = readdir(dir))) {
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		files += replay_file(path);
	}
	closedir(dir);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++)
		files += replay_folder(argv[i]);
	printf("%d inputs replayed\n", files);
	return files > 0 ? 0 : 1;
}
