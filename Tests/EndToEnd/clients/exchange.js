// What the clients beside it do alike.
'use strict';
const http = require('http');

// One request by Node's http or https, its body in pieces; the answer whole.
function exchange(module, options, body) {
  return new Promise((resolve, reject) => {
    const asked = module.request(options, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(parts) }));
    });
    asked.on('error', reject);
    for (let start = 0; start < (body || '').length; start += 30000) asked.write(body.subarray(start, start + 30000));
    asked.end();
  });
}

// A socket through the proxy on that port to the authority.
function tunnel(port, authority) {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: authority });
    asked.on('connect', (answer, socket) => (answer.statusCode === 200 ? resolve(socket) : reject(answer.statusCode)));
    asked.on('error', reject);
    asked.end();
  });
}

// Runs a client on the arguments of its command.
function run(main) {
  main(...process.argv.slice(2)).catch((failure) => {
    console.error(failure);
    process.exit(1);
  });
}

module.exports = { exchange, tunnel, run };
