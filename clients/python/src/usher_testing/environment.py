"""The variables that lead programs through the proxy, as `usher env` prints them."""

from __future__ import annotations

CA_VARIABLES = (
    "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
    "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO")


def proxy_variables(proxy: str, ca_file: str | None) -> dict[str, str]:
    """The variables; those of the CA only if there is one to trust."""
    variables = {"NO_PROXY": "", "no_proxy": "", "NODE_USE_ENV_PROXY": "1"}
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        variables |= {name: proxy, name.lower(): proxy}
    if ca_file:
        variables |= dict.fromkeys(CA_VARIABLES, ca_file)
    return variables
