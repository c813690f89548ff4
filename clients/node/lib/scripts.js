// Scripts that Usher asks about messages (docs/scripts.md). The protocol is JSON texts, each behind its length.
import fs from 'node:fs'
import net from 'node:net'

const PROTOCOL = 1

/** An outcome in place of a changed message: throw or return one. */
export class Verdict {
  constructor(members) {
    this.members = members
  }
}

/** The client gets this response: respond({ status, headers, body }). */
export const respond = (response = {}) => new Verdict({ respond: written(response) })

/** The exchange ends with 502 and this reason. */
export const abort = reason => new Verdict({ abort: String(reason) })

/** In the response phase: the request goes out again, changed if one is given. */
export const retry = ({ request, after = 0 } = {}) =>
  new Verdict({ retry: { after, ...(request && { request: request instanceof Message ? request.changes() : written(request) }) } })

const bytes = body =>
  body === undefined || body === null ? undefined
    : body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      : body instanceof ArrayBuffer ? Buffer.from(body) : Buffer.from(String(body))

function written({ status, method, url, headers, body }) {
  const all = {}
  if (status !== undefined) all.status = status
  if (method !== undefined) all.method = method
  if (url !== undefined) all.url = String(url)
  if (headers !== undefined) all.headers = pairs(headers)
  if (body !== undefined && body !== null) all.body = bytes(body)
  return all
}

/** The folder for bodies that are too large for a frame, if Usher gave one. */
const folder = process.env.USHER_SCRIPT_FILES
const mostInFrame = Number(process.env.USHER_SCRIPT_FILE_ABOVE)

/** An answer with its body as it goes out: in the answer's file, or in base64. */
function packed(answer, files) {
  const name = ['request', 'response', 'respond'].find(name => answer[name]?.body !== undefined)
  if (name !== undefined) return { ...answer, [name]: packedPart(answer[name], answer.id, files) }
  if (answer.retry?.request?.body === undefined) return answer
  return { ...answer, retry: { ...answer.retry, request: packedPart(answer.retry.request, answer.id, files) } }
}

function packedPart({ body, ...part }, id, files) {
  if (!files || body.length <= mostInFrame) return { ...part, body: body.toString('base64') }
  fs.writeFileSync(`${folder}/${id}`, body, { mode: 0o600 })
  return { ...part, file: String(id) }
}

const pairs = headers =>
  Array.isArray(headers) ? headers.map(([name, value]) => [name, String(value)])
    : typeof headers[Symbol.iterator] === 'function' ? [...headers].map(([name, value]) => [name, String(value)])
      : Object.entries(headers).map(([name, value]) => [name, String(value)])

/** The fields that fetch or a browser writes itself: an object in place of `Headers` does not remove them. */
const transport = new Set([
  'host', 'connection', 'cookie', 'content-length', 'transfer-encoding', 'user-agent', 'accept-encoding', 'accept-language',
  'origin', 'referer', 'te', 'upgrade', 'proxy-authorization', 'proxy-connection', 'keep-alive', 'expect', 'via', 'forwarded'])

/** Headers of these lines, without those that `Headers` refuses: characters beyond Latin-1. */
function headersOf(lines) {
  const headers = new Headers()
  for (const [name, value] of lines) {
    try {
      headers.append(name, value)
    } catch {
      // the line stays as it is
    }
  }
  return headers
}

/** A request or a response. Lines of headers that are not changed stay as they are. */
class Message {
  #given
  #known

  constructor(given) {
    this.#given = given
    this.headers = headersOf(given.headers)
    this.#known = this.headers
    this.body = given.file !== undefined ? fs.readFileSync(`${folder}/${given.file}`)
      : given.body === undefined ? undefined : Buffer.from(given.body, 'base64')
    this.before = this.body
  }

  get text() {
    return this.body === undefined ? undefined : bytes(this.body).toString()
  }

  set text(text) {
    this.body = text
  }

  /** What is different from the message that came. */
  changes() {
    const changes = {}
    const headers = this.#lines()
    if (headers) changes.headers = headers
    if (this.body !== this.before && this.body !== undefined && this.body !== null) {
      changes.body = bytes(this.body)
    }
    return changes
  }

  #lines() {
    let now = this.headers ?? this.#known
    const isReplaced = !(now instanceof Headers)
    if (isReplaced) now = new Headers(pairs(now))
    const then = headersOf(this.#given.headers)
    const value = (headers, name) => name === 'set-cookie' ? headers.getSetCookie().join('\n') : headers.get(name)
    const names = new Set([...then.keys(), ...now.keys()])
    const kept = name => isReplaced && !now.has(name) && (transport.has(name) || name.startsWith('sec-'))
    const changed = new Set([...names].filter(name => !kept(name) && value(then, name) !== value(now, name)))
    if (changed.size === 0) return undefined
    const lines = []
    const written = new Set()
    const write = (name, spelling) => {
      written.add(name)
      const all = name === 'set-cookie' ? now.getSetCookie() : now.has(name) ? [now.get(name)] : []
      for (const one of all) lines.push([spelling, one])
    }
    for (const [spelling, old] of this.#given.headers) {
      const name = spelling.toLowerCase()
      if (!changed.has(name)) lines.push([spelling, old])
      else if (!written.has(name)) write(name, spelling)
    }
    for (const name of changed) if (!written.has(name)) write(name, name)
    return lines
  }
}

export class ScriptRequest extends Message {
  #given

  constructor(given) {
    super(given)
    this.#given = given
    this.method = given.method
    this.url = new URL(given.url)
    this.spelling = this.url.href
  }

  changes() {
    const changes = super.changes()
    if (this.method !== this.#given.method) changes.method = String(this.method)
    // what URL writes otherwise without a change stays as it came
    if (String(this.url) !== this.spelling) changes.url = String(this.url)
    return changes
  }
}

export class ScriptResponse extends Message {
  #given

  constructor(given) {
    super(given)
    this.#given = given
    this.status = given.status
  }

  changes() {
    const changes = super.changes()
    if (this.status !== this.#given.status) changes.status = this.status
    return changes
  }
}

const isEmpty = object => Object.keys(object).length === 0

function line(error) {
  try {
    return String(error?.message ?? error).replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, 200)
  } catch {
    return 'something without words was thrown'
  }
}

function answered(question, message, state, outcome) {
  const answer = { id: question.id }
  const before = JSON.stringify(question.state ?? {})
  const kept = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, String(value)]))
  if (JSON.stringify(kept) !== before) answer.state = kept
  if (outcome instanceof Verdict) return { ...answer, ...outcome.members }
  const changes = message.changes()
  if (!isEmpty(changes)) answer[question.phase] = changes
  return answer
}

function ask(handlers, question) {
  const state = { ...question.state }
  const action = question.action ?? { type: '' }
  const request = new ScriptRequest(question.request)
  const isRequest = question.phase === 'request'
  const message = isRequest ? request : new ScriptResponse(question.response)
  const finish = outcome => answered(question, message, state, outcome)
  const fails = error => error instanceof Verdict ? finish(error) : failed(question, error)
  const context = { state, interceptor: question.interceptor }
  try {
    const outcome = isRequest
      ? handlers.request(request, action, context) : handlers.response(message, request, action, context)
    return typeof outcome?.then === 'function' ? outcome.then(finish).catch(fails) : finish(outcome)
  } catch (error) {
    return fails(error)
  }
}

function failed(question, error) {
  console.error(error?.stack ?? error)
  return { id: question.id, error: line(error) }
}

function answer(handlers, question) {
  if (question.phase === 'ping') return { id: question.id }
  try {
    return ask(handlers, question)
  } catch (error) {
    return failed(question, error)
  }
}

/** Splits bytes into JSON texts. */
export class FrameReader {
  #bytes = Buffer.alloc(0)

  /** The texts that a piece completes. */
  read(piece) {
    const values = []
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece])
    while (true) {
      const end = this.#bytes.indexOf(10)
      if (end < 0) return values
      const length = Number(this.#bytes.toString('latin1', 0, end))
      if (!Number.isSafeInteger(length)) throw new Error('Usher sent a frame without a length')
      if (this.#bytes.length < end + length + 2) return values
      const text = this.#bytes.toString('utf8', end + 1, end + 1 + length)
      this.#bytes = this.#bytes.subarray(end + length + 2)
      values.push(JSON.parse(text))
    }
  }
}

export function frame(value) {
  // half a character, which JSON.stringify escapes, is no text
  const text = JSON.stringify(value).replace(/\\(?:ud[89a-f]..|.)/g, all => all.length === 6 ? '\ufffd' : all)
  return `${Buffer.byteLength(text)}\n${text}\n`
}

/**
 * Serves Usher's questions on the socket that it passed.
 * @param handlers `request(request, action, { state })`, `response(response, request, action, { state })`, or both; they change
 *   what they get, or return or throw a verdict, and may be asynchronous. `needs: 'body'` for bodies.
 */
export function serve(handlers, socket = inherited()) {
  const files = folder !== undefined && handlers.needs === 'body'
  const phases = ['request', 'response'].filter(phase => handlers[phase])
  const reader = new FrameReader()
  socket.write(frame({ hello: { protocol: PROTOCOL, phases, needs: handlers.needs ?? 'head', ...(files && { files }) } }))
  socket.on('data', piece => {
    let out = ''
    for (const question of reader.read(piece)) {
      const framed = value => {
        try {
          return frame(packed(value, files))
        } catch (error) {
          return frame(failed(question, error))
        }
      }
      const given = answer(handlers, question)
      if (typeof given.then !== 'function') out += framed(given)
      else given.catch(error => failed(question, error)).then(value => socket.write(framed(value)))
    }
    if (out) socket.write(out)
  })
  // Usher has ended, or does not need this process any longer
  socket.on('end', () => process.exit(0))
  socket.on('error', () => process.exit(0))
}

function inherited() {
  const number = Number(process.env.USHER_SCRIPT_FD)
  if (!number) throw new Error('USHER_SCRIPT_FD is not set: start this program by script: { run: [...] } of Usher')
  // the last line says what happened
  process.on('uncaughtException', error => {
    console.error(`${error?.stack ?? error}\n${line(error)}`)
    process.exit(1)
  })
  return new net.Socket({ fd: number, readable: true, writable: true })
}

/**
 * Middleware of the JavaScript SDK, unchanged: `(req, action, next) => { …; next() }`. It sees calls to AM alone.
 * `req.init` has the options of fetch; `req.headers`, `req.method` and `req.body` are the same, as in newer SDKs.
 */
export function middleware(list, { needs = 'body' } = {}) {
  if (!Array.isArray(list)) throw new Error('the middleware is no array')
  return {
    needs,
    request(request, action) {
      if (!action.type) return
      run(list, sdkRequest(request), Object.freeze({ type: action.type, payload: action.payload }))
      // a body that was removed
      if (request.before !== undefined) request.body ??= ''
    },
  }
}

function run(list, req, action) {
  const rest = [...list]
  const next = () => {
    const one = rest.shift()
    // as in the SDK, nobody waits for an asynchronous entry
    if (one) Promise.resolve(one(req, action, next)).catch(error => console.error(error))
    return req
  }
  next()
}

function sdkRequest(request) {
  // fetch takes text, and middleware expects it
  if (request.body !== undefined) {
    const text = request.body.toString()
    if (request.body.length === 0) request.body = undefined
    else if (Buffer.from(text).equals(request.body)) request.body = text
    request.before = request.body
  }
  const same = name => ({
    get: () => request[name], set: value => { request[name] = value }, enumerable: true, configurable: name === 'body' })
  // to delete the body is to send none
  const view = properties => new Proxy(Object.defineProperties({}, properties), {
    deleteProperty: (target, name) => name === 'body' ? Reflect.set(target, name, undefined) : Reflect.deleteProperty(target, name),
  })
  const init = view({
    method: same('method'), headers: same('headers'), body: same('body'),
    credentials: { value: 'include', writable: true, enumerable: true },
  })
  return view({
    url: same('url'), headers: same('headers'), method: same('method'), body: same('body'),
    init: {
      get: () => init,
      set: given => {
        for (const name of ['method', 'headers']) if (name in given) init[name] = given[name]
        init.body = given.body
      },
      enumerable: true,
    },
  })
}

/**
 * Interceptors as CDTDatastore has them: objects with `interceptRequestInContext(context)`, `interceptResponseInContext(context)` or
 * both. They run in their order in both phases. A context has `request`, `response`, `responseData`, `state` and `shouldRetry`; the
 * last interceptor decides about the retry, and null ends the exchange.
 */
export function cdt(list, { needs = 'body' } = {}) {
  const phase = (kind, method, make) => {
    const able = list.filter(one => typeof one[method] === 'function')
    if (able.length === 0) return undefined
    return async (...given) => {
      const { state } = given.at(-1)
      const message = given[0]
      const shared = JSON.parse(state.cdt ?? '{}')
      let context = Object.assign(make(given), { state: shared, shouldRetry: false })
      for (const one of able) {
        context = await one[method](context)
        if (context === null || context === undefined) return abort(`${method} of ${one.constructor?.name ?? 'an interceptor'} returned null`)
      }
      if (Object.keys(context.state ?? {}).length > 0) state.cdt = JSON.stringify(context.state)
      else delete state.cdt
      await adopt(message, context[kind])
      if (kind === 'response' && context.responseData !== message.before) message.body = context.responseData
      return context
    }
  }
  const request = phase('request', 'interceptRequestInContext', ([request]) => ({ request, response: null, responseData: null }))
  const response = phase('response', 'interceptResponseInContext', ([response, request]) => ({
    request, response, get responseData() { return response.body }, set responseData(body) { response.body = body } }))
  const handlers = { needs }
  if (request) handlers.request = async (...given) => verdictOf(await request(...given))
  if (response) {
    handlers.response = async (...given) => {
      const context = await response(...given)
      return context.shouldRetry ? retry() : verdictOf(context)
    }
  }
  return handlers
}

/** Takes a message that an interceptor made anew. */
async function adopt(message, given) {
  if (given === message || !given) return
  for (const name of ['method', 'url', 'status', 'headers']) if (name in message && name in given) message[name] = given[name]
  // one of fetch has a stream
  if (given.body !== undefined && given.body !== null) {
    message.body = typeof given.arrayBuffer === 'function' ? await given.arrayBuffer() : given.body
  }
}

const verdictOf = outcome => outcome instanceof Verdict ? outcome : undefined
