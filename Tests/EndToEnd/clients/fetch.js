// node fetch.js MODE PROXY METHOD URL HEADERS-JSON: one request through a proxy with undici's fetch, its body from
// standard input. MODE `connect` opens a tunnel, as undici's ProxyAgent does for every URL; `absolute` sends
// absolute-form requests. Prints {"status", "headers", "body"} with the body in Base64.
'use strict';
const { fetch, Pool, ProxyAgent } = require('undici');
const { readFileSync } = require('fs');

class AbsoluteAgent extends Pool {
  dispatch(options, handler) {
    const headers = [...options.headers, 'host', new URL(options.origin).host];
    return super.dispatch({ ...options, headers, path: options.origin + options.path }, handler);
  }
}

async function main([mode, proxy, method, url, headers]) {
  const dispatcher = mode === 'connect' ? new ProxyAgent(proxy) : new AbsoluteAgent(proxy);
  const body = readFileSync(0);
  const answer = await fetch(url, {
    method, headers: JSON.parse(headers), dispatcher, redirect: 'manual', body: body.length > 0 ? body : undefined });
  const bytes = Buffer.from(await answer.arrayBuffer());
  console.log(JSON.stringify({
    status: answer.status, headers: Object.fromEntries(answer.headers), body: bytes.toString('base64') }));
  await dispatcher.close();
}

main(process.argv.slice(2)).catch((failure) => {
  console.error(failure);
  process.exit(1);
});
