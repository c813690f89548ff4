// HTTP/2 over TLS in front of a server that speaks HTTP/1 over TLS: node h2front.js KEY CERTIFICATE CA PORT
// Prints its port. What the server writes about itself goes through as it is.
const fs = require('fs');
const http2 = require('http2');
const https = require('https');

const [key, certificate, ca, port] = process.argv.slice(2);
const server = http2.createSecureServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) });
const agent = new https.Agent({ keepAlive: true, ca: fs.readFileSync(ca) });

server.on('stream', (stream, headers) => {
  const host = headers[':authority'];
  const fields = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
  stream.on('error', () => {});
  const asked = https.request(
    { agent, host: '127.0.0.1', port, servername: host.split(':')[0], method: headers[':method'], path: headers[':path'], headers: { ...fields, host } },
    (answer) => {
      const { connection, 'keep-alive': kept, 'transfer-encoding': coding, ...rest } = answer.headers;
      stream.respond({ ':status': answer.statusCode, ...rest });
      answer.pipe(stream);
    });
  asked.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  stream.pipe(asked);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
