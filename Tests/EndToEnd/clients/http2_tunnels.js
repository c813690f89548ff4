// Many tunnels in the streams of one connection: node http2_tunnels.js PROXY AUTHORITY CA COUNT PLAIN-URL
// In each a request over TLS, and beside them as many for what needs no tunnel. Prints what came of each as JSON.
const fs = require('fs');
const http2 = require('http2');
const https = require('https');
const tls = require('tls');

const [proxy, authority, ca, count, plain] = process.argv.slice(2);
const authorities = fs.readFileSync(ca);
const session = http2.connect(proxy, { ca: authorities });

function collect(stream) {
  return new Promise((resolve, reject) => {
    let status;
    let body = '';
    stream.on('response', (fields) => { status = fields[':status']; });
    stream.on('data', (piece) => { body += piece; });
    stream.on('end', () => resolve([status, body]));
    stream.on('error', reject);
    stream.end();
  });
}

function tunnelled() {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'CONNECT', ':authority': authority }, { endStream: false });
    stream.on('error', reject);
    stream.on('response', (fields) => {
      if (fields[':status'] !== 200) return resolve([fields[':status'], '']);
      const socket = tls.connect({ socket: stream, servername: authority.split(':')[0], ca: authorities }, () => {
        https.get({ createConnection: () => socket, path: '/get', headers: { host: authority } }, (answer) => {
          let body = '';
          answer.on('data', (piece) => { body += piece; });
          answer.on('end', () => { socket.end(); resolve([answer.statusCode, body]); });
        }).on('error', reject);
      });
      socket.on('error', reject);
    });
  });
}

function direct() {
  const { host, pathname } = new URL(plain);
  return collect(session.request({ ':scheme': 'http', ':authority': host, ':path': pathname }));
}

const all = [];
for (let turn = 0; turn < Number(count); turn += 1) all.push(tunnelled(), direct());
Promise.all(all).then((answers) => {
  console.log(JSON.stringify(answers));
  session.close();
}).catch((failure) => {
  console.error(failure);
  process.exit(1);
});
