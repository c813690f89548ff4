// node http.js PROXY-PORT ORIGIN: the exchanges of test_real_clients.py with Node's own http and an agent that keeps
// connections, absolute-form; then once more inside a CONNECT tunnel.
'use strict';
const http = require('http');
const assert = require('assert');

function exchange(options, body) {
  return new Promise((resolve, reject) => {
    const asked = http.request(options, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(parts) }));
    });
    asked.on('error', reject);
    for (let start = 0; start < (body || '').length; start += 30000) asked.write(body.subarray(start, start + 30000));
    asked.end();
  });
}

function tunnel(port, authority) {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: authority });
    asked.on('connect', (answer, socket) => (answer.statusCode === 200 ? resolve(socket) : reject(answer.statusCode)));
    asked.on('error', reject);
    asked.end();
  });
}

async function main(port, origin) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const host = new URL(origin).host;
  const body = Buffer.alloc(100000, 'n');
  const absolute = (path, more) => ({ host: '127.0.0.1', port, agent, path: origin + path, headers: { host }, ...more });
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await exchange(absolute('/get'));
    assert.deepStrictEqual([answer.status, answer.body.toString()], [200, 'hello']);
  }
  // one with a length, one in chunks
  for (const headers of [{ host, 'content-length': body.length }, { host }]) {
    assert.ok((await exchange(absolute('/echo', { method: 'POST', headers }), body)).body.equals(body));
  }
  assert.strictEqual((await exchange(absolute('/chunked'))).body.length, 200000);
  const socket = await tunnel(port, host);
  const inside = await exchange({ createConnection: () => socket, path: '/get', headers: { host } });
  assert.strictEqual(inside.body.toString(), 'hello');
  agent.destroy();
  socket.destroy();
  console.log('ok');
}

main(...process.argv.slice(2)).catch((failure) => {
  console.error(failure);
  process.exit(1);
});
