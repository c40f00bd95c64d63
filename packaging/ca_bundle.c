/*
 * The CA bundle of the portable builds. Each distribution keeps it in a place of its own, so the first file that exists is
 * chosen when the program starts. CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR still take precedence (src/net/http.c).
 */
#include "ca_bundle.h"

#include <string.h>
#include <unistd.h>

static const char *const PLACES[] = {
	"/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine, Gentoo */
	"/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL 6 and later */
	"/etc/ssl/ca-bundle.pem",                            /* openSUSE */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL 7 and later, without the link above */
	"/etc/ssl/cert.pem",                                 /* Alpine without the bundle */
};

char rt_default_ca_bundle[64] = "/etc/ssl/certs/ca-certificates.crt";

__attribute__((constructor)) static void choose_ca_bundle(void)
{
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
		if (access(PLACES[i], R_OK) == 0) {
			strcpy(rt_default_ca_bundle, PLACES[i]);
			return;
		}
	}
}
