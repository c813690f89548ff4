// An app that speaks HTTP/2 to its proxy, and asks for its tunnels in streams of one connection: node http2_proxy.js PROXY PROXY-CA CA JOBS
// Each job is { connect, headers, inside, path, method, body, size, gives_up, count, url, after }; prints what came of each as JSON. `inside` is what is
// spoken in the tunnel: raw, http, https or h2. Without `connect`, `url` is asked for.
const http = require('http');
const http2 = require('http2');
const tls = require('tls');
const fs = require('fs');

const [proxy, proxyCA, ca, text] = process.argv.slice(2);
const session = http2.connect(proxy, { ca: fs.readFileSync(proxyCA) });
session.on('error', (fault) => { console.error(`session: ${fault.message}`); process.exitCode = 1; });

function gather(stream, answer, done) {
  answer.length = 0;
  answer.body = '';
  stream.on('data', (piece) => {
    answer.length += piece.length;
    if (answer.length <= 4096) answer.body += piece.toString('latin1');
  });
  stream.on('error', (fault) => { answer.error = fault.code; });
  stream.on('end', () => { answer.ended = true; });
  stream.on('close', done);
}

function raw(stream, job, answer, done) {
  gather(stream, answer, done);
  const body = job.size ? Buffer.alloc(job.size, 'a') : Buffer.from(job.body || '');
  if (job.gives_up) stream.write(body, () => stream.on('data', () => stream.close(http2.constants.NGHTTP2_CANCEL)));
  else if (job.stays) stream.write(body);
  else stream.end(body);
}

function ask(socket, job, answer, done) {
  const headers = { host: job.connect, ...job.inner };
  const request = http.request({ createConnection: () => socket, path: job.path || '/', method: job.method || 'GET', headers });
  request.on('error', (fault) => { answer.inner = { error: fault.code }; done(); });
  request.on('response', (response) => {
    const inner = { status: response.statusCode, headers: response.headers };
    gather(response, inner, () => { answer.inner = inner; socket.destroy(); done(); });
  });
  request.end(job.size ? Buffer.alloc(job.size, 'a') : job.body);
}

function askNew(socket, job, answer, done) {
  const within = http2.connect(`https://${job.connect}`, { createConnection: () => socket });
  within.on('error', (fault) => { answer.inner = { error: fault.code }; done(); });
  const stream = within.request({ ':path': job.path || '/', ':method': job.method || 'GET', ...job.inner });
  const inner = {};
  stream.on('response', (fields) => { inner.status = fields[':status']; inner.headers = { ...fields }; });
  gather(stream, inner, () => { answer.inner = inner; within.close(); socket.destroy(); done(); });
  stream.end(job.size ? Buffer.alloc(job.size, 'a') : job.body);
}

function run(job) {
  return new Promise((resolve) => {
    const answer = {};
    const url = job.url && new URL(job.url);
    const headers = url
      ? { ':method': job.method || 'GET', ':scheme': url.protocol.slice(0, -1), ':authority': url.host, ':path': url.pathname + url.search, ...job.headers }
      : { ':method': 'CONNECT', ':authority': job.connect, ...job.headers };
    if (url && job.body) headers['content-length'] = job.body.length;
    const stream = session.request(headers, { endStream: !!url && !job.body });
    if (url && job.body) stream.end(job.body);
    stream.on('error', (fault) => { answer.error = fault.code; });
    stream.on('response', (fields) => {
      answer.status = fields[':status'];
      answer.headers = { ...fields };
      const done = () => { answer.reset = stream.rstCode; resolve(answer); };
      if (url) return gather(stream, answer, done);
      if (answer.status !== 200 || job.inside === 'raw') return raw(stream, job, answer, done);
      if (job.inside === 'http') return ask(stream, job, answer, done);
      const protocol = job.inside === 'h2' ? 'h2' : 'http/1.1';
      const host = job.connect.replace(/:\d+$/, '');
      const secure = tls.connect({ socket: stream, servername: host, ca: fs.readFileSync(ca), ALPNProtocols: [protocol] }, () => {
        answer.spoken = secure.alpnProtocol;
        (job.inside === 'h2' ? askNew : ask)(secure, job, answer, done);
      });
      secure.on('error', (fault) => { answer.secure = fault.code; done(); });
    });
    stream.on('close', () => { if (!answer.status) { answer.reset = stream.rstCode; resolve(answer); } });
  });
}

session.once('remoteSettings', () => {
  const jobs = JSON.parse(text).flatMap((job) => Array(job.count || 1).fill(job));
  // what stays open is left when all others are done
  const answers = jobs.map(run);
  Promise.all(answers.filter((_, index) => !jobs[index].stays)).then((all) => {
    // what is open still would keep the program
    process.stdout.write(JSON.stringify(all), () => process.exit());
  });
});
