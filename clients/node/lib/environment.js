// The variables that lead programs through the proxy, as `usher env` prints them.

const CA_VARIABLES = [
  'SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS', 'DENO_CERT', 'AWS_CA_BUNDLE',
  'GIT_SSL_CAINFO', 'CARGO_HTTP_CAINFO'
]

/** The variables; those of the CA only if there is one to trust. */
export function proxyVariables(proxy, caFile) {
  const variables = { NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' }
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) variables[name] = variables[name.toLowerCase()] = proxy
  if (caFile) for (const name of CA_VARIABLES) variables[name] = caFile
  return variables
}
