// An origin that speaks HTTP/2: over TLS with a key and a certificate, else without. Prints its port, then a line of JSON for
// each request whose body has come.
const http2 = require('http2');
const fs = require('fs');

const [key, certificate] = process.argv.slice(2);
let sessions = 0;
let refused = false;
// without so much memory Node refuses streams while others send much
const options = { settings: { enableConnectProtocol: true }, maxSessionMemory: 1000 };
const server = key
  ? http2.createSecureServer({ ...options, key: fs.readFileSync(key), cert: fs.readFileSync(certificate) })
  : http2.createServer(options);

server.on('session', (session) => {
  session.number = ++sessions;
  // a connection that breaks off ends itself alone
  session.on('error', () => {});
});
server.on('sessionError', () => {});
server.on('stream', (stream, headers) => {
  // a stream comes after its connection has broken off, too
  if (!stream.session) return;
  const { number } = stream.session;
  const pieces = [];
  let trailers = {};
  stream.on('error', () => {});
  stream.on('trailers', (fields) => { trailers = { ...fields }; });
  stream.on('data', (piece) => pieces.push(piece));
  stream.on('close', () => { if (stream.rstCode) console.log(JSON.stringify({ reset: stream.rstCode, path: headers[':path'] })); });
  const path = new URL(headers[':path'], 'http://x').pathname;
  if (headers[':protocol']) {
    console.log(JSON.stringify({ session: number, headers: { ...headers } }));
    stream.respond({ ':status': 200 });
    stream.write('hello ');
    stream.on('end', () => stream.end(Buffer.concat(pieces)));
    return;
  }
  if (path === '/early') {
    stream.respond({ ':status': 413 });
    return stream.end('too much');
  }
  if (path === '/reset') {
    stream.respond({ ':status': 200 });
    // Node ends a stream in order before it resets it
    stream.write('half', () => stream.session.destroy());
    return;
  }
  if (path === '/never') return;
  if (path === '/refused' && !refused) {
    refused = true;
    return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
  }
  stream.on('end', () => {
    const body = Buffer.concat(pieces);
    console.log(JSON.stringify({ session: number, headers: { ...headers }, body: body.toString('base64'), trailers }));
    if (stream.destroyed) return;
    if (path === '/empty') return stream.respond({ ':status': 204 }, { endStream: true });
    if (path === '/hints') stream.additionalHeaders({ ':status': 103, link: '</style.css>; rel=preload' });
    if (path === '/trailers') {
      stream.respond({ ':status': 200, trailer: 'x-sum' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': String(body.length) }));
      return stream.end(body);
    }
    stream.respond({ ':status': 200, 'x-session': String(number) });
    if (path === '/big') return stream.end(Buffer.alloc(5 << 20, 'b'));
    // what the site of web.py answers
    if (path === '/chunked') return stream.end(Buffer.alloc(200000, 'x'));
    stream.end(body.length ? body : path === '/get' ? 'hello' : 'ok');
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
