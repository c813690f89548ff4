// What the admin API answers; scripts/client-types writes this file from /v1/openapi.json.

export interface SessionRule {
  name: string
  /** As it was added; null for one of the overlay. */
  rule: Record<string, unknown> | null
}

export interface SessionWarning {
  message: string
  file?: string
  line?: number
  column?: number
}

export interface Session {
  id: string
  name: string | null
  began: string
  ends: string
  /** The URL of its own port. */
  port: string | null
  rules: Array<SessionRule>
  warnings: Array<SessionWarning>
  /** The test user that it has borrowed. */
  robot: string | null
}

export interface OpenedSessionHeader {
  name: string
  value: string
}

export interface OpenedSession {
  id: string
  name: string | null
  began: string
  ends: string
  port: string | null
  rules: Array<SessionRule>
  warnings: Array<SessionWarning>
  robot: string | null
  /** The robot's password. */
  password?: string
  /** The URL for HTTP_PROXY, with the session's key. */
  proxy: string
  /** The field that names the session in requests without proxy credentials. */
  header: OpenedSessionHeader
}

export interface FlowInterceptor {
  name: string
  did: Array<"applied" | "failed" | "answered" | "aborted" | "delayed" | "throttled" | "retried" | "not_retried" | "waited" | "refused" | "logged_in" | "reset" | "empty" | "garbage" | "malformed_status" | "malformed_header" | "malformed_length" | "malformed_chunk" | "truncated" | "reset_after" | "slow_close">
}

export interface Flow {
  id: string
  sequence: number
  began: string
  duration_ms: number
  client: string
  user: string | null
  session: string | null
  action: string | null
  realm: string | null
  tree: string | null
  type: string | null
  method: string
  url: string
  status: number | null
  content_type: string | null
  error: string | null
  request_bytes: number
  response_bytes: number
  attempts: number
  marks: Array<"request_changed" | "response_changed" | "step_up" | "fault" | "slowed" | "local" | "incomplete" | "tunnel" | "call" | "attempt">
  /** The interceptors that had an effect, with their effects. */
  interceptors: Array<FlowInterceptor>
  parent: string | null
}

export interface FlowDetailRequestBody {
  /** The size on the wire. The stored body is decoded. */
  bytes: number
  /** true: the body was longer than what is stored. */
  cut: boolean
  text?: string
  base64?: string
}

export interface FlowDetailRequest {
  method: string
  url: string
  version: string
  fields: Array<OpenedSessionHeader>
  body: FlowDetailRequestBody
}

export interface FlowDetailAnswer {
  status: number
  version: string
  fields: Array<OpenedSessionHeader>
  body: FlowDetailRequestBody
}

export interface FlowDetailTimingM {
  waiting: number | null
  resolving: number | null
  connecting: number | null
  securing: number | null
  answering: number | null
  receiving: number | null
}

export interface FlowDetailEvent {
  at_ms: number
  event: string
  text: string
  interceptor?: string
  did?: "applied" | "failed" | "answered" | "aborted" | "delayed" | "throttled" | "retried" | "not_retried" | "waited" | "refused" | "logged_in" | "reset" | "empty" | "garbage" | "malformed_status" | "malformed_header" | "malformed_length" | "malformed_chunk" | "truncated" | "reset_after" | "slow_close"
  phase?: string
}

export interface FlowDetail {
  flow: Flow
  request: FlowDetailRequest
  /** The request as sent, if it differs. */
  sent: FlowDetailRequest | null
  /** The response as received, if the delivered one differs. */
  answer: FlowDetailAnswer | null
  response: FlowDetailAnswer | null
  /** The time of each phase, in milliseconds. */
  timing_ms: FlowDetailTimingM
  events: Array<FlowDetailEvent>
  /** Usher's own calls for this flow, and its earlier attempts. */
  calls: Array<unknown>
}

export interface FilterKey {
  key: string
  about: string
  values?: Array<string>
}

export interface NamedFault {
  name: string
  concerns: string
  sees: string
  remedy: string
}

export interface RatesPointAction {
  /** Empty for requests without an Action. */
  action: string
  requests: number
  /** Requests with a 5xx, an error of the proxy, or no response. */
  errors: number
  /** Responses that asked for a step-up. */
  step_ups: number
  /** In milliseconds. */
  p50_ms: number
  /** In milliseconds. */
  p95_ms: number
  /** In milliseconds. */
  p99_ms: number
}

export interface RatesPoint {
  /** The beginning, in UTC. */
  at: string
  actions: Array<RatesPointAction>
}

export interface Rates {
  interval_s: number
  points: Array<RatesPoint>
}

export interface Journey {
  id: string
  sequence: number
  began: string
  /** The time from the first call of the login to its last. */
  duration_ms: number
  /** The part of that time in AM. */
  am_ms: number
  /** The part of that time between the calls, spent by the person or the app. */
  app_ms: number
  outcome: "running" | "suspended" | "abandoned" | "succeeded" | "failed" | "unknown"
  /** The reason for the failure, as AM reports it. */
  reason: string | null
  client: string
  user: string | null
  /** The name that was entered. */
  login: string | null
  realm: string | null
  tree: string | null
  type: string | null
  by: "app" | "usher"
  /** The flow that needed this login. */
  parent: string | null
  /** false: earlier calls are not in the journal. */
  complete: boolean
  session: string | null
  steps: number
  calls: number
  tokens: number
  /** The number of origins that got its credentials. */
  origins: number
  requests: number
  /** The flow that ended the session. */
  ended_by: string | null
}

export interface JourneyDetailStepCallback {
  type: string
  prompt: string
  /** The answer. Aliases replace secrets. */
  answer: string | null
  /** The labels of a choice. */
  choices: Array<string>
}

export interface JourneyDetailStep {
  flow: string
  action: string | null
  at_ms: number
  duration_ms: number
  am_ms: number
  /** The time since the previous call. */
  pause_ms: number
  status: number | null
  ending: "asks" | "suspends" | "succeeds" | "refuses" | "fails" | "unread"
  reason: string | null
  /** true: the same authId was sent before. */
  repeated: boolean
  /** The number of times that Usher sent the call. */
  attempts: number
  stage: string | null
  header: string | null
  /** AM's callbacks, with the answers of the next call. */
  callbacks: Array<JourneyDetailStepCallback>
}

export interface JourneyDetailCall {
  flow: string
  action: string | null
  at_ms: number
  duration_ms: number
  status: number | null
  error: string | null
  /** The alias that connects the call to the journey. */
  with: string | null
  won: Array<string>
}

export interface JourneyDetailToken {
  kind: "session" | "code" | "access_token" | "refresh_token" | "id_token"
  alias: string
  flow: string
  at_ms: number
}

export interface JourneyDetailResourceStatus {
  status: number | null
  count: number
}

export interface JourneyDetailResource {
  origin: string
  first: string
  requests: number
  /** The number of different paths. 1000 means 1000 or more. */
  paths: number
  statuses: Array<JourneyDetailResourceStatus>
}

export interface JourneyDetailFrom {
  session: string
  journey: string | null
}

export interface JourneyDetailFor {
  flow: string
  method: string
  url: string
  status: number | null
}

export interface JourneyDetailLeftOut {
  steps: number
  calls: number
  tokens: number
  requests: number
}

export interface JourneyDetail {
  journey: Journey
  steps: Array<JourneyDetailStep>
  calls: Array<JourneyDetailCall>
  tokens: Array<JourneyDetailToken>
  resources: Array<JourneyDetailResource>
  /** The session at the start, and the journey that obtained it. */
  from: JourneyDetailFrom | null
  /** Journeys that continued with the session. */
  stepped_up_by: Array<string>
  /** The request that needed this login. */
  for: JourneyDetailFor | null
  /** The numbers of entries that are left out. */
  left_out: JourneyDetailLeftOut
  /** true: older flows were removed from the journal, and may be missing here. */
  flows_lost: boolean
}

export interface TransactionCallbackChoice {
  number: number
  label: string
}

export interface TransactionCallback {
  index: number
  type: string
  prompt: string
  form: string
  secret: boolean
  choices: Array<TransactionCallbackChoice>
  parts: Array<string>
  policies: Array<string>
}

export interface Transaction {
  id: string
  client: string
  user: string | null
  session: string | null
  method: string
  resource: string
  am: string
  realm: string
  tree: string | null
  stage: string
  header: string
  messages: Array<string>
  waited_ms: number
  left_ms: number
  kind: "suspended" | "callbacks"
  message?: string
  callbacks: Array<TransactionCallback>
  shortened: boolean
}

export interface ReportExpectationFailure {
  flow: string
  because: string
  request: string | null
  status: number | null
  curl: string | null
}

export interface ReportExpectation {
  name: string
  verdict: "met" | "unmet" | "pending"
  expected: string
  wanted: string
  counted: number
  failed: number
  because: string | null
  place: string | null
  pack: string | null
  source: string | null
  flows: Array<string>
  failures: Array<ReportExpectationFailure>
  /** The flow that failed the fewest terms. */
  nearest: ReportExpectationFailure | null
}

export interface Report {
  /** true: all expectations are met. */
  met: boolean
  /** The number of flows judged. */
  flows: number
  unmet: number
  expectations: Array<ReportExpectation>
}
