// node https.js PROXY-PORT ORIGIN: the exchanges of test_real_clients.py with Node's own https in a CONNECT tunnel, on one
// connection that is kept; then once more on a second one, whose session is the first one's.
'use strict';
const https = require('https');
const tls = require('tls');
const assert = require('assert');
const { exchange, tunnel, run } = require('./exchange');

async function main(port, origin) {
  const { host, hostname } = new URL(origin);
  const body = Buffer.alloc(100000, 'n');
  const socket = await tunnel(port, host);
  let session;
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, socket, servername: hostname });
  agent.createConnection = () => tls.connect({ socket, servername: hostname }).on('session', (given) => { session = given; });
  const inside = (path, more) => ({ host: hostname, agent, path, headers: { host }, ...more });
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await exchange(https, inside('/get'));
    assert.deepStrictEqual([answer.status, answer.body.toString()], [200, 'hello']);
  }
  // one with a length, one in chunks
  for (const headers of [{ host, 'content-length': body.length }, { host }]) {
    assert.ok((await exchange(https, inside('/echo', { method: 'POST', headers }), body)).body.equals(body));
  }
  assert.strictEqual((await exchange(https, inside('/chunked'))).body.length, 200000);
  agent.destroy();
  const again = tls.connect({ socket: await tunnel(port, host), servername: hostname, session });
  const answer = await exchange(https, { createConnection: () => again, path: '/get', headers: { host } });
  assert.strictEqual(answer.body.toString(), 'hello');
  assert.ok(again.isSessionReused());
  again.destroy();
  console.log('ok');
}

run(main);
