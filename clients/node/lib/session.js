// One test session of a daemon: what a test does with Usher.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { USUAL_TIMEOUT } from './control.js'
import { proxyVariables } from './environment.js'
import { NotSeen, Unmet } from './errors.js'
import { Pending } from './pending.js'
import { Route, defined } from './route.js'
import { filters, when } from './terms.js'
import { flowsText, journeyText, reportText } from './text.js'

const PAUSE = 50
const PATIENCE = 5000

/** A test session: a proxy URL with rules, counts, sessions, tokens, flows and expectations of its own. */
export class Usher {
  #control
  #path

  constructor(control, opened, caFile) {
    this.#control = control
    this.#path = `/v1/sessions/${encodeURIComponent(opened.id)}`
    this.id = opened.id
    this.name = opened.name
    this.proxyURL = opened.proxy
    this.portURL = opened.port
    this.header = opened.header
    this.caFile = caFile
  }

  /** Ends the session. Its flows stay in the journal. */
  async close() {
    try {
      await this.#control.ask('DELETE', this.#path)
    } catch (error) {
      // its time is over, or the test closed it
      if (error.status !== 404) throw error
    }
  }

  // clients

  /** The option `proxy` of a browser's context. Browsers send no credentials unasked, so the session needs a port. */
  get proxy() {
    if (!this.portURL) throw new TypeError('a browser needs a session with a port of its own: session({ port: true })')
    return { server: this.portURL }
  }

  /** The environment of this process, with the variables that lead programs through the proxy. */
  get env() {
    return { ...process.env, ...proxyVariables(this.proxyURL, this.caFile) }
  }

  /** A dispatcher of undici, as for `fetch(url, { dispatcher })`; undici has to be installed. */
  async undici() {
    const { ProxyAgent } = createRequire(import.meta.url)('undici')
    const { origin, username, password } = new URL(this.proxyURL)
    const ca = this.caFile ? await readFile(this.caFile) : undefined
    return new ProxyAgent({
      uri: origin, token: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`, requestTls: defined({ ca }),
      // plain requests go as they are, so that Usher sees them
      proxyTunnel: false
    })
  }

  // rules and faults

  /** Adds an interceptor before all others: `route({ action: 'AUTHENTICATE', by: 'app' }, r => r.respond(429, { times: 2 }))`. */
  async route(condition, build) {
    const route = new Route(when(condition))
    build(route)
    return this.rule(route.rule)
  }

  /** Adds an interceptor as it stands in a configuration; its name. */
  async rule(body) {
    return (await this.#control.ask('POST', `${this.#path}/rules`, { body })).name
  }

  /** Switches a fault on by its name, such as am-session-expired; the name of its rule. */
  async fault(name, { condition, ...options } = {}) {
    return this.route(condition, route => route.fault(name, options))
  }

  /** Removes a rule or a fault that was added. */
  async unroute(name) {
    await this.#control.ask('DELETE', `${this.#path}/rules/${encodeURIComponent(name)}`)
  }

  // expectations

  /** Adds an expectation, which is judged when the test is over: `expect('path=/pay', { count: 1 })`. */
  async expect(condition, { count, each, ...more } = {}) {
    const terms = when(condition)
    const body = {
      ...more, ...(Object.keys(terms).length ? { when: terms } : {}), ...(each ? { each: when(each) } : {}),
      ...(count === undefined ? {} : { count: String(count) })
    }
    await this.#control.ask('POST', `${this.#path}/expectations`, { body })
  }

  /** How the traffic so far meets the expectations. Waits for messages that have not come yet. */
  async report({ timeout = PATIENCE } = {}) {
    return this.#control.ask('GET', `${this.#path}/report`, { query: [['wait', timeout]], timeout: timeout + USUAL_TIMEOUT })
  }

  /** Throws Unmet with the report if an expectation is not met. */
  async verify(options) {
    const report = await this.report(options)
    if (!report.met) throw new Unmet(reportText(report))
  }

  // step-ups

  /** The oldest step-up of this session that waits for a person, as soon as there is one. */
  async pending({ timeout = PATIENCE } = {}) {
    return this.#eventually(timeout, 'no step-up waits for a person', async () => {
      const { transactions } = await this.#control.ask('GET', '/v1/transactions')
      const own = transactions.find(one => one.session === this.id)
      return own && new Pending(this.#control, own)
    })
  }

  // what happened

  /** The flows of this session that match filters of `usher flows`, oldest first. Waits until there are `atLeast` so many. */
  async flows(filter, { atLeast = 1, timeout = PATIENCE } = {}) {
    const asked = filters(filter)
    const waiting = atLeast ? [['wait', atLeast], ['timeout', timeout]] : []
    const query = [...asked, ['filter', `session=${this.id}`], ['limit', 1000], ...waiting]
    try {
      const { flows } = await this.#control.ask('GET', '/v1/flows', { query, timeout: timeout + USUAL_TIMEOUT })
      return flows.sort(inOrder)
    } catch (error) {
      if (error.status !== 504) throw error
      const words = asked.map(([, value]) => value).join(' ') || 'flows'
      throw new NotSeen(`${error.message}: ${words}; the session has\n${await this.summary()}`)
    }
  }

  /** All of one flow: its messages, events and times. */
  async flow(id) {
    return this.#control.ask('GET', `/v1/flows/${encodeURIComponent(id)}`)
  }

  /** The logins of this session so far that match filters of `usher journeys`, oldest first. */
  async journeys(filter) {
    const query = [...filters(filter), ['filter', `session=${this.id}`], ['limit', 1000]]
    return (await this.#control.ask('GET', '/v1/journeys', { query })).journeys.sort(inOrder)
  }

  /** The newest login of this session that matches. */
  journey(filter) {
    return new JourneyQuery(this, filter)
  }

  /** All of one login. */
  async journeyDetail(id) {
    return this.#control.ask('GET', `/v1/journeys/${encodeURIComponent(id)}`)
  }

  /** The session's logins step by step, and its last flows, as text. */
  async summary() {
    // it comes when the journal has what was answered so far
    await this.report({ timeout: 0 })
    const logins = []
    for (const { id } of (await this.journeys()).slice(-10)) logins.push(journeyText(await this.journeyDetail(id)))
    const flows = await this.flows([], { atLeast: 0 })
    return [...logins, flowsText(flows.slice(-30)) || '  no flows'].join('\n')
  }

  /** The session's flows as an HTTP Archive. */
  async har() {
    const entries = []
    let archive
    let after = 0
    while (after !== null && after !== undefined) {
      const query = [['filter', `session=${this.id}`], ['filter', 'calls=yes'], ['after', after]]
      archive = await this.#control.ask('GET', '/v1/flows.har', { query })
      entries.push(...archive.log.entries)
      after = archive.log._next
      delete archive.log._next
    }
    archive.log.entries = entries.sort((one, other) => compare(one.startedDateTime, other.startedDateTime))
    return archive
  }

  /** Writes the session's flows as an HTTP Archive. */
  async writeHAR(file) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, JSON.stringify(await this.har()))
  }

  async #eventually(timeout, otherwise, find) {
    const end = performance.now() + timeout
    for (;;) {
      const found = await find()
      if (found) return found
      if (performance.now() > end) throw new NotSeen(`${otherwise} within ${timeout} ms; the session has\n${await this.summary()}`)
      await pause(PAUSE)
    }
  }
}

// all times have one format and one zone, so text order is time order
const compare = (one, other) => (one < other ? -1 : Number(one > other))
// by the beginning: the journal numbers what ends
const inOrder = (one, other) => compare(one.began, other.began) || one.sequence - other.sequence

/** A login that a test asks about. It may still be under way. */
export class JourneyQuery {
  #usher
  #filter

  constructor(usher, filter) {
    this.#usher = usher
    this.#filter = filter
  }

  /** The newest login as it is now; undefined if there is none. */
  async now() {
    return (await this.#usher.journeys(this.#filter)).at(-1)
  }

  /** All of the newest login, as soon as there is one with that outcome (any, without). */
  async get({ outcome, timeout = PATIENCE } = {}) {
    const end = performance.now() + timeout
    for (;;) {
      const newest = await this.now()
      if (newest && (!outcome || newest.outcome === outcome)) return this.#usher.journeyDetail(newest.id)
      if (performance.now() > end) {
        const words = newest ? `the login is ${newest.outcome}, not ${outcome}` : 'no login matches'
        throw new NotSeen(`${words} within ${timeout} ms; the session has\n${await this.#usher.summary()}`)
      }
      await pause(PAUSE)
    }
  }
}
