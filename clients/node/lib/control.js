// The admin API of a daemon: JSON over its Unix socket, or over TCP with a token.

import http from 'node:http'

export const USUAL_TIMEOUT = 15_000

/** The daemon refused a request, or cannot be reached. */
export class UsherError extends Error {
  name = 'UsherError'

  constructor(words, status, faults = []) {
    // the words are about the first fault
    super([words, ...faults.slice(1).map(line)].join('\n'))
    this.status = status
    this.faults = faults
  }
}

function line(fault) {
  const place = ['file', 'line', 'column'].filter(key => key in fault).map(key => fault[key]).join(':')
  return `  ${place ? `${place}: ` : ''}${fault.message}`
}

/** Asks one daemon. Each request has a connection of its own. */
export class Control {
  /** Give either `socket`, or `url` with `token`. */
  constructor({ socket, url, token }) {
    if (!socket && !url) throw new TypeError('Control takes a socket, or a url and a token')
    Object.assign(this, { socket, url, token })
  }

  /** The JSON of the response; throws UsherError for any status but 2xx. */
  async ask(method, path, { body, query = [], timeout = USUAL_TIMEOUT } = {}) {
    const terms = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = { accept: 'application/json' }
    if (text !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    if (this.token) headers.authorization = `Bearer ${this.token}`
    const { status, text: answer } = await this.#exchange(method, terms ? `${path}?${terms}` : path, headers, text, timeout)
    return read(status, answer)
  }

  #exchange(method, path, headers, body, timeout) {
    return new Promise((resolve, reject) => {
      const place = this.socket ? { socketPath: this.socket } : address(this.url)
      const request = http.request({ ...place, method, path, headers, timeout, agent: false }, response => {
        const parts = []
        response.on('data', part => parts.push(part))
        response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }))
        response.on('error', failed)
      })
      const failed = error => reject(new UsherError(`usher does not answer at ${this.socket ?? this.url}: ${error.message}`))
      request.on('error', failed)
      request.on('timeout', () => request.destroy(new Error(`no answer within ${timeout} ms`)))
      request.end(body)
    })
  }
}

function address(text) {
  const url = new URL(text)
  if (url.protocol !== 'http:') throw new UsherError(`USHER_URL has to be an http URL such as http://127.0.0.1:3130, not ${text}`)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || 80 }
}

function read(status, text) {
  let answer
  try {
    answer = text ? JSON.parse(text) : undefined
  } catch {
    throw new UsherError(`usher answered ${status} with something that is not JSON`, status)
  }
  if (status >= 200 && status < 300) return answer
  throw new UsherError(answer?.detail ?? `usher answered ${status}`, status, answer?.faults)
}
