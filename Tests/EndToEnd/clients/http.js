// node http.js PROXY-PORT ORIGIN: the exchanges of test_real_clients.py with Node's own http and an agent that keeps
// connections, absolute-form; then once more inside a CONNECT tunnel.
'use strict';
const http = require('http');
const assert = require('assert');
const { exchange, tunnel, run } = require('./exchange');

async function main(port, origin) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const host = new URL(origin).host;
  const body = Buffer.alloc(100000, 'n');
  const absolute = (path, more) => ({ host: '127.0.0.1', port, agent, path: origin + path, headers: { host }, ...more });
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await exchange(http, absolute('/get'));
    assert.deepStrictEqual([answer.status, answer.body.toString()], [200, 'hello']);
  }
  // one with a length, one in chunks
  for (const headers of [{ host, 'content-length': body.length }, { host }]) {
    assert.ok((await exchange(http, absolute('/echo', { method: 'POST', headers }), body)).body.equals(body));
  }
  assert.strictEqual((await exchange(http, absolute('/chunked'))).body.length, 200000);
  const socket = await tunnel(port, host);
  const inside = await exchange(http, { createConnection: () => socket, path: '/get', headers: { host } });
  assert.strictEqual(inside.body.toString(), 'hello');
  agent.destroy();
  socket.destroy();
  console.log('ok');
}

run(main);
