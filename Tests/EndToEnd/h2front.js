// HTTP/2 in front of a server that speaks HTTP/1, over TLS or not: node h2front.js PORT [IDENTITY CA]
// Prints its port. What the server writes about itself goes through as it is.
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const https = require('https');

const [port, identity, ca] = process.argv.slice(2);
const pem = identity && fs.readFileSync(identity);
const server = identity ? http2.createSecureServer({ key: pem, cert: pem }) : http2.createServer();
const { Agent, request } = identity ? https : http;
const agent = new Agent({ keepAlive: true, ...(ca && { ca: fs.readFileSync(ca) }) });

server.on('stream', (stream, headers) => {
  const host = headers[':authority'];
  const fields = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
  stream.on('error', () => {});
  const asked = request(
    { agent, host: '127.0.0.1', port, servername: host.split(':')[0], method: headers[':method'], path: headers[':path'], headers: { ...fields, host } },
    (answer) => {
      const { connection, 'keep-alive': kept, 'transfer-encoding': coding, ...rest } = answer.headers;
      if (stream.destroyed) return;
      stream.respond({ ':status': answer.statusCode, ...rest });
      answer.pipe(stream);
    });
  asked.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  stream.pipe(asked);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
