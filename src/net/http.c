/* Makes HTTP requests with a time limit, by libcurl. See http.h. */
#include "net/http.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "net/settings.h"
#include "net/timestamps.h"

enum { MOST_HEADER_BYTES = 32 << 10, MOST_CONNECTIONS = 4, MOST_RETRY_AFTER_SECS = 300 };
/* CURLMOPT_QUICK_EXIT of libcurl 8.20. A program that was built with an earlier one may run with a later one. */
enum { MULTI_QUICK_EXIT = 21 };

struct http_transfer {
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	struct http_answer *answer;
	void *context;
	bool done;
};

void http_answer_done(struct http_answer *answer)
{
	buffer_done(&answer->headers);
	buffer_done(&answer->body);
	*answer = (struct http_answer){0};
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct http_answer *answer = context;

	buffer_add(&answer->body, bytes, size * count);
	return buffer_error(&answer->body) ? 0 : size * count;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
	struct http_answer *answer = context;

	/* A new status line (after 100 Continue) starts again. */
	if (size * count > 5 && memcmp(bytes, "HTTP/", 5) == 0)
		buffer_clear(&answer->headers);
	buffer_add(&answer->headers, bytes, size * count);
	return buffer_error(&answer->headers) ? 0 : size * count;
}

bool http_header(const struct http_answer *answer, const char *name, char *ret_value, size_t size)
{
	struct scan text = scan_bytes(answer->headers.data, answer->headers.length), line;
	size_t length = strlen(name);
	bool found = false;

	if (!answer->headers.data)
		return false;
	while (scan_line(&text, &line)) {
		struct scan value;

		if (scan_left(&line) <= length || line.at[length] != ':' ||
		    strncasecmp(line.at, name, length) != 0)
			continue;
		value = scan_trim(scan_bytes(line.at + length + 1, scan_left(&line) - length - 1));
		while (scan_left(&value) && value.end[-1] == '\r')
			value.end--;
		scan_copy(&value, ret_value, size);
		found = true;
	}
	return found;
}

/* The date is the server's clock, which the Date header shows. */
static int retry_after_date(const struct http_answer *answer, int64_t at_secs)
{
	int64_t now_secs = (int64_t)time(NULL), left;
	char date[64];

	if (http_header(answer, "Date", date, sizeof(date)))
		(void)parse_http_date(date, &now_secs);
	left = at_secs - now_secs;
	return left < 0 ? 0 : left > MOST_RETRY_AFTER_SECS ? MOST_RETRY_AFTER_SECS : (int)left;
}

int http_retry_after_secs(const struct http_answer *answer)
{
	char text[64];
	struct scan scan;
	uint64_t secs;
	int64_t at_secs;

	if (!http_header(answer, "Retry-After", text, sizeof(text)))
		return -1;
	/* Try the number first: libcurl would take "20260401" for a date. */
	scan = scan_bytes(text, strlen(text));
	if (scan_u64(&scan, &secs) && !scan_left(&scan))
		return secs > MOST_RETRY_AFTER_SECS ? MOST_RETRY_AFTER_SECS : (int)secs;
	return parse_http_date(text, &at_secs) == 0 ? retry_after_date(answer, at_secs) : -1;
}

static int error_of(CURLcode code, const struct http_answer *answer)
{
	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_WRITE_ERROR:
		return buffer_error(&answer->body) == -ENOMEM ? -ENOMEM : -EMSGSIZE;
	default:
		return -EIO;
	}
}

static void set_error_text(struct http_answer *answer, const char *text)
{
	snprintf(answer->error_text, sizeof(answer->error_text), "%s", text);
}

static void finish_transfer(struct http_transfer *transfer, CURLcode code)
{
	struct http_answer *answer = transfer->answer;

	transfer->done = true;
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	answer->error = error_of(code, answer);
	if (answer->error == -EMSGSIZE)
		set_error_text(answer, "the answer is too large");
	else if (answer->error && !answer->error_text[0])
		set_error_text(answer, curl_easy_strerror(code));
}

/* ---- requests --------------------------------------------------------------------------------------- */

/* A folder of certificates works only with the hash links that c_rehash makes. */
static bool has_hashed_certificates(const char *folder)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = strlen(entry->d_name) == 10 && strspn(entry->d_name, "0123456789abcdef") == 8 &&
			entry->d_name[8] == '.';
	closedir(dir);
	return found;
}

/*
 * Uses the certificates that the user names, else the system's. The system's folder is preferred to its file,
 * because libcurl parses the whole file: 2 MiB and 15 ms for one root.
 */
static void set_certificates(CURL *easy, const char *named)
{
	const char *file = named                         ? named
			   : env_value("CURL_CA_BUNDLE") ? env_value("CURL_CA_BUNDLE")
							 : env_value("SSL_CERT_FILE");
	const char *folder = named ? NULL : env_value("SSL_CERT_DIR");

	if (file || folder) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, file);
		curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
		return;
	}
#if LIBCURL_VERSION_NUM >= 0x075400
	char *system_folder = NULL;

	curl_easy_getinfo(easy, CURLINFO_CAPATH, &system_folder);
	if (has_hashed_certificates(system_folder))
		curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
#else
	(void)has_hashed_certificates;
#endif
}

static void set_limits(CURL *easy, const struct http_request *request)
{
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->total_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075700
	/*
	 * A resolver thread that hangs is left behind, not joined. Before its timeout only the waiting caller
	 * can end it.
	 */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "resource-tracker/" RT_VERSION);
	if (request->direct) {
		curl_easy_setopt(easy, CURLOPT_PROXY, "");
		curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
	}
}

static void set_method(CURL *easy, const struct http_request *request)
{
	if (strcmp(request->method, "GET") == 0) {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
		return;
	}
	if (strcmp(request->method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static int set_headers(struct http_transfer *transfer, const struct http_request *request)
{
	bool has_type = false;

	for (size_t i = 0; i < HTTP_MOST_HEADERS && request->headers[i]; i++) {
		struct curl_slist *longer = curl_slist_append(transfer->headers, request->headers[i]);

		if (!longer)
			return -ENOMEM;
		transfer->headers = longer;
		has_type = has_type || strncasecmp(request->headers[i], "Content-Type:", 13) == 0;
	}
	/* Otherwise libcurl would declare every body a form. */
	if (!has_type) {
		struct curl_slist *longer = curl_slist_append(transfer->headers, "Content-Type:");

		if (!longer)
			return -ENOMEM;
		transfer->headers = longer;
	}
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
	return 0;
}

static void begin_answer(struct http_answer *answer, size_t most_bytes)
{
	answer->status = 0;
	answer->error = 0;
	answer->error_text[0] = '\0';
	answer->headers.ceiling = MOST_HEADER_BYTES;
	answer->body.ceiling = most_bytes;
	buffer_clear(&answer->headers);
	buffer_clear(&answer->body);
}

int http_start(struct http_client *client, const struct http_request *request, struct http_answer *answer,
	       void *context, struct http_transfer **ret_transfer)
{
	struct http_transfer *transfer = calloc(1, sizeof(*transfer));
	int r = -ENOMEM;

	begin_answer(answer, request->most_answer_bytes);
	if (!transfer)
		goto failed;
	transfer->answer = answer;
	transfer->context = context;
	transfer->easy = curl_easy_init();
	if (!transfer->easy)
		goto failed;
	set_limits(transfer->easy, request);
	set_certificates(transfer->easy, request->certificate);
	set_method(transfer->easy, request);
	r = set_headers(transfer, request);
	if (r < 0)
		goto failed;
	curl_easy_setopt(transfer->easy, CURLOPT_ERRORBUFFER, answer->error_text);
	curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(transfer->easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(transfer->easy, CURLOPT_HEADERDATA, answer);
	curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
	r = -ENOMEM;
	if (curl_easy_setopt(transfer->easy, CURLOPT_URL, request->url) ||
	    curl_multi_add_handle(client->multi, transfer->easy))
		goto failed;
	transfer->multi = client->multi;
	*ret_transfer = transfer;
	return 0;
failed:
	answer->error = r;
	set_error_text(answer, "out of memory");
	http_transfer_free(transfer);
	return r;
}

void http_transfer_free(struct http_transfer *transfer)
{
	if (!transfer)
		return;
	if (transfer->multi)
		curl_multi_remove_handle(transfer->multi, transfer->easy);
	curl_easy_cleanup(transfer->easy);
	curl_slist_free_all(transfer->headers);
	free(transfer);
}

void *http_context(const struct http_transfer *transfer)
{
	return transfer->context;
}

/* ---- the client ------------------------------------------------------------------------------------- */

/*
 * libcurl takes this variable in small letters only, because a web server sets HTTP_PROXY from a client's "Proxy:"
 * header.
 */
static void take_capital_proxy(void)
{
	const char *proxy = env_value("HTTP_PROXY");

	if (proxy && !env_value("http_proxy") && !env_value("REQUEST_METHOD"))
		setenv("http_proxy", proxy, 1);
}

int http_open(struct http_client *ret_client, struct patience *patience)
{
	CURLM *multi;

	take_capital_proxy();
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	multi = curl_multi_init();
	if (!multi)
		return -ENOMEM;
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)MOST_CONNECTIONS);
	/* From libcurl 8.20 on, resolver threads belong to the multi handle. Earlier ones refuse the option. */
	curl_multi_setopt(multi, (CURLMoption)MULTI_QUICK_EXIT, 1L);
	*ret_client = (struct http_client){multi, patience};
	return 0;
}

void http_close(struct http_client *client)
{
	if (!client->multi)
		return;
	curl_multi_cleanup(client->multi);
	curl_global_cleanup();
	client->multi = NULL;
}

static struct http_transfer *take_done(struct http_client *client)
{
	struct http_transfer *transfer = NULL;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(client->multi, &left))) {
		char *private = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
		transfer = (struct http_transfer *)(void *)private;
		finish_transfer(transfer, message->data.result);
		return transfer;
	}
	return NULL;
}

struct http_transfer *http_next_done(struct http_client *client, int64_t until_ns)
{
	struct patience forever = PATIENCE, *patience = client->patience ? client->patience : &forever;

	for (;;) {
		struct curl_waitfd extra[PATIENCE_FDS];
		struct pollfd fds[PATIENCE_FDS];
		struct http_transfer *transfer;
		size_t count;
		int running = 0;

		if (curl_multi_perform(client->multi, &running))
			return NULL;
		transfer = take_done(client);
		if (transfer)
			return transfer;
		if (!running || monotonic_ns() >= until_ns || patience_over(patience))
			return NULL;
		count = patience_fds(patience, fds);
		for (size_t i = 0; i < count; i++)
			extra[i] = (struct curl_waitfd){.fd = fds[i].fd, .events = CURL_WAIT_POLLIN};
		curl_multi_poll(client->multi, extra, (unsigned int)count,
				patience_left_ms(patience, until_ns), NULL);
	}
}

int http_send(struct http_client *client, const struct http_request *request, struct http_answer *ret_answer)
{
	struct http_transfer *transfer = NULL;
	int r = http_start(client, request, ret_answer, NULL, &transfer);

	if (r < 0)
		return r;
	if (!http_next_done(client, INT64_MAX)) {
		ret_answer->error = -ETIMEDOUT;
		set_error_text(ret_answer, "no time is left");
	}
	http_transfer_free(transfer);
	return ret_answer->error;
}
