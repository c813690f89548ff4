/** What `usher explain --json` says of a request. */
export interface Explanation {
  action: string | null
  payload: Record<string, unknown> | null
  realm: string | null
  evidence: string | null
  protocol: string
  resource: unknown
  asks_person: boolean
  session: unknown
  unopened: unknown
  route: unknown
  address: unknown
  environment: unknown
  interceptors: Verdict[]
  request: Message
  forwarded: Message | null
  sent: (Message & { call: boolean })[]
  response: Response | null
  answered: Response | null
  received: Response | null
  events: { kind: string; text: string }[]
}

export interface Verdict {
  name: string
  matched: boolean
  because: string
  misses: string[]
  phases: { phase: string; attempt: number; matched: boolean; because: string; did: string[] }[]
}

export interface Message {
  method: string
  url: string
  headers: [string, string][]
  body: string
}

export interface Response {
  status: number
  headers: [string, string][]
  body: string
}

export const requestLines = (message: Message): string[] =>
  [`${message.method} ${message.url}`, ...headLines(message)]

export const responseLines = (response: Response): string[] => [`HTTP ${response.status}`, ...headLines(response)]

function headLines({ headers, body }: { headers: [string, string][]; body: string }): string[] {
  const head = headers.map(([name, value]) => `${name}: ${value}`)
  return body === "" ? head : [...head, "", ...body.split("\n")]
}
