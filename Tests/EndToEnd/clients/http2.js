// An app that speaks HTTP/2 through an opened tunnel: node http2.js PROXY URL CA JOBS
// Each job is { path, method, headers, body, trailers, count, size, tunnel, connect, gives_up }; prints what came of each as JSON.
const http = require('http');
const http2 = require('http2');
const tls = require('tls');
const fs = require('fs');

const [proxy, url, ca, text] = process.argv.slice(2);
const target = new URL(url);
const at = new URL(proxy);

function ask(session, job) {
  return new Promise((resolve) => {
    const headers = { ':path': job.path, ':method': job.method || 'GET', ...job.headers };
    if (job.tunnel) Object.assign(headers, { ':method': 'CONNECT', ':protocol': job.tunnel, ':scheme': 'https', ':authority': target.host });
    if (job.connect) { delete headers[':path']; Object.assign(headers, { ':method': 'CONNECT', ':authority': job.connect }); }
    const body = job.size ? Buffer.alloc(job.size, 'a') : Buffer.from(job.body || '');
    const endStream = !body.length && !job.tunnel && !job.trailers && !job.connect;
    const stream = session.request(headers, { endStream, waitForTrailers: !!job.trailers });
    const answer = { interim: [], length: 0, body: '' };
    stream.on('headers', (fields) => answer.interim.push(fields[':status']));
    stream.on('response', (fields) => { answer.status = fields[':status']; answer.headers = { ...fields }; });
    stream.on('trailers', (fields) => { answer.trailers = { ...fields }; });
    stream.on('wantTrailers', () => stream.sendTrailers(job.trailers));
    stream.on('data', (piece) => {
      answer.length += piece.length;
      if (answer.length <= 4096) answer.body += piece.toString('latin1');
    });
    stream.on('error', (fault) => { answer.error = fault.code; });
    stream.on('close', () => { answer.reset = stream.rstCode; resolve(answer); });
    if (!endStream) stream.end(body);
    if (job.gives_up) session.stalled = stream;
  });
}

http.request({ host: at.hostname, port: at.port, method: 'CONNECT', path: target.host }).on('connect', (response, socket) => {
  const secure = tls.connect({ socket, servername: target.hostname, ca: fs.readFileSync(ca), ALPNProtocols: ['h2'] }, () => {
    const session = http2.connect(url, { createConnection: () => secure });
    const jobs = JSON.parse(text).flatMap((job) => Array(job.count || 1).fill(job));
    const others = (answers) => {
      // what stalls is given up when all others are done
      Promise.all(answers.filter((_, index) => !jobs[index].gives_up)).then(() => session.stalled && session.stalled.close(8));
      return Promise.all(answers);
    };
    const begin = () => others(jobs.map((job) => ask(session, job))).then((answers) => {
      console.log(JSON.stringify(answers));
      session.close();
      socket.destroy();
    });
    session.once('remoteSettings', begin);
  });
}).end();
