// What a test makes of the requests of a route.

const SAMPLING = { times: 'first', every: 'every', percent: 'percent', seed: 'seed', name: 'name' }

/** Collects the interceptor of one route; each method gives the route again. */
export class Route {
  constructor(when) {
    this.rule = Object.keys(when).length ? { when } : {}
  }

  /** Answers in the place of the origin: `respond(429, { times: 2, json: {…} })`. */
  respond(status, { json, text, headers, ...options } = {}) {
    return this.#add('request', { respond: defined({ status, json, text, headers }) }, options)
  }

  /** Lets the request wait: `delay('800ms')`. */
  delay(time, options) {
    return this.#add('request', { delay: time }, options)
  }

  /** A fault by its name; `usher faults` lists them. */
  fault(name, options) {
    this.rule.fault = name
    return this.#sample(options)
  }

  /** Any edit of the request, such as `{ set_header: { 'X-Test': '1' } }`. */
  request(edit, options) {
    return this.#add('request', edit, options)
  }

  /** Any edit of the response, such as `{ fault: 'truncated' }`. */
  response(edit, options) {
    return this.#add('response', edit, options)
  }

  #add(phase, edit, options) {
    this.rule[phase] = [...(this.rule[phase] ?? []), edit]
    return this.#sample(options)
  }

  #sample(options = {}) {
    for (const [option, value] of Object.entries(options)) {
      if (!SAMPLING[option]) throw new TypeError(`unknown option ${option}; valid options: ${Object.keys(SAMPLING).join(', ')}`)
      this.rule[SAMPLING[option]] = value
    }
    return this
  }
}

/** The members that have a value. */
export function defined(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
