import type { Flow, Journey, JourneyDetail, OpenedSession, Report, Transaction, TransactionCallback } from './api.js'

export * from './api.js'

/** Terms such as `action=AUTHENTICATE by=app`, or an object with the keys of `when`. */
export type Condition = string | Record<string, unknown>
/** Filters of `usher flows`: one term, several, or an object. */
export type Filter = string | string[] | Record<string, string | number | boolean | Array<string | number>>
export type Outcome = Journey['outcome']

/** Which of the exchanges that match a rule applies to. */
export interface Sampling {
  /** The rule's name. */
  name?: string
  /** This many exchanges. */
  times?: number
  /** Every nth exchange. */
  every?: number
  /** This percentage of them, at random. */
  percent?: number
  /** Makes the percentage select the same exchanges each time. */
  seed?: number
}

/** A response in the place of the origin's. */
export interface Response {
  json?: unknown
  text?: string
  headers?: Record<string, string>
}

/** The daemon refused a request, or cannot be reached. */
export class UsherError extends Error {
  status: number | undefined
  faults: Array<{ message: string; file?: string; line?: number; column?: number }>
  constructor(words: string, status?: number, faults?: UsherError['faults'])
}

/** Something that a test waited for did not come in time. */
export class NotSeen extends Error {}

/** The traffic does not meet the expectations of the session. */
export class Unmet extends Error {}

/** The admin API of one daemon. */
export class Control {
  readonly socket?: string
  readonly url?: string
  constructor(place: { socket: string } | { url: string; token?: string })
  /** The JSON of the response; throws UsherError for any status but 2xx. */
  ask(
    method: string, path: string,
    options?: { body?: unknown; query?: Array<[string, string | number]>; timeout?: number }
  ): Promise<any>
}

/** Opens test sessions at one daemon. */
export class Daemon {
  readonly control: Control
  constructor(control: Control)
  /** The daemon of USHER_SOCKET, or of USHER_URL with USHER_TOKEN; undefined if neither is set. */
  static found(env?: Record<string, string | undefined>): Daemon | undefined
  /** Opens a session. `overlay` is an object, or the path of a YAML file; ${env.NAME} in it is read here. */
  session(options?: {
    name?: string
    overlay?: string | Record<string, unknown>
    /** As in `10m`. */
    ttl?: string
    /** A port of its own. */
    port?: boolean
  }): Promise<Usher>
}

/** A daemon that runs until it is stopped. */
export class ServedDaemon extends Daemon {
  /** Starts `usher serve`. `binary` is the program: by default $USHER_BINARY, else `usher` in the path. */
  static start(config: string, options?: { binary?: string }): Promise<ServedDaemon>
  readonly socket: string
  stop(): Promise<void>
}

/** What a test makes of the requests of a route. */
export interface Route {
  /** Answers in the place of the origin. */
  respond(status: number, options?: Response & Sampling): Route
  /** Lets the request wait, as in `800ms`. */
  delay(time: string, options?: Sampling): Route
  /** A fault by its name; `usher faults` lists them. */
  fault(name: string, options?: Sampling): Route
  /** Any edit of the request. */
  request(edit: Record<string, unknown>, options?: Sampling): Route
  /** Any edit of the response. */
  response(edit: Record<string, unknown>, options?: Sampling): Route
}

/** A test session: a proxy URL with rules, counts, sessions, tokens, flows and expectations of its own. */
export class Usher {
  constructor(control: Control, opened: OpenedSession, caFile?: string)
  readonly id: string
  readonly name: string | null
  /** The proxy's URL with the session's key. */
  readonly proxyURL: string
  /** The URL of a port of its own, if one was asked for. */
  readonly portURL: string | null
  /** The header that names the session where a client can send no proxy credentials. */
  readonly header: { name: string; value: string }
  /** The CAs to trust, the usual ones and Usher's; undefined if no host is intercepted. */
  readonly caFile: string | undefined
  /** The option `proxy` of a browser's context; for a session with a port of its own. */
  readonly proxy: { server: string }
  /** The environment of this process, with the variables that lead programs through the proxy. */
  readonly env: Record<string, string | undefined>
  /** A dispatcher of undici, as for `fetch(url, { dispatcher })`. */
  undici(): Promise<any>
  /** Ends the session. Its flows stay in the journal. */
  close(): Promise<void>

  /** Adds an interceptor before all others; its name. */
  route(condition: Condition, build: (route: Route) => unknown): Promise<string>
  /** Adds an interceptor as it stands in a configuration; its name. */
  rule(rule: Record<string, unknown>): Promise<string>
  /** Switches a fault on by its name, such as am-session-expired; the name of its rule. */
  fault(name: string, options?: Sampling & { condition?: Condition }): Promise<string>
  /** Removes a rule or a fault that was added. */
  unroute(name: string): Promise<void>

  /** Adds an expectation, which is judged when the test is over. */
  expect(condition: Condition, options?: {
    /** A number, `>=2`, `2-4` or `never`. */
    count?: number | string
    each?: Condition
    /** Whether each message came by a step-up. */
    step_up?: boolean
    name?: string
    before?: string
    after?: string
    within?: string
    per?: 'session' | 'journey'
    /** Packs of rules. */
    use?: string | string[]
  }): Promise<void>
  /** How the traffic so far meets the expectations. */
  report(options?: { timeout?: number }): Promise<Report>
  /** Throws Unmet with the report if an expectation is not met. */
  verify(options?: { timeout?: number }): Promise<void>

  /** The oldest step-up of this session that waits for a person, as soon as there is one. */
  pending(options?: { timeout?: number }): Promise<Pending>

  /** The flows of this session that match, oldest first. Waits until there are `atLeast` (1) so many. */
  flows(filter?: Filter, options?: { atLeast?: number; timeout?: number }): Promise<Flow[]>
  /** All of one flow: its messages, events and times. */
  flow(id: string): Promise<Record<string, any>>
  /** The logins of this session so far that match, oldest first. */
  journeys(filter?: Filter): Promise<Journey[]>
  /** The newest login of this session that matches. */
  journey(filter?: Filter): JourneyQuery
  /** All of one login. */
  journeyDetail(id: string): Promise<JourneyDetail>
  /** The session's logins step by step, and its last flows, as text. */
  summary(): Promise<string>
  /** The session's flows as an HTTP Archive. */
  har(): Promise<Record<string, any>>
  writeHAR(file: string): Promise<void>
}

/** A login that a test asks about. It may still be under way. */
export class JourneyQuery {
  constructor(usher: Usher, filter?: Filter)
  /** The newest login as it is now; undefined if there is none. */
  now(): Promise<Journey | undefined>
  /** All of the newest login, as soon as there is one with that outcome (any, without). */
  get(options?: { outcome?: Outcome; timeout?: number }): Promise<JourneyDetail>
}

/** One step-up that waits; a test answers or denies it in the place of the person. */
export class Pending {
  constructor(control: Control, transaction: Transaction)
  readonly id: string
  readonly transaction: Transaction
  readonly callbacks: TransactionCallback[]
  /**
   * Answers its callbacks: in their order, or by name. A name is a callback's type (`name` for NameCallback) or a word of its
   * prompt; with one open callback, any name fits. `link` gives the link that a mail would bring.
   */
  answer(answers: unknown[] | Record<string, unknown>): Promise<void>
  /** Refuses the step-up. The app gets the original response. */
  deny(): Promise<void>
}
