// What the page asks the daemon: one function for each kind of request, all with the person's token.

/** An answer of the daemon that is not a success, in its own words (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    /** What else the problem document has, such as `faults` of a configuration. */
    readonly members: Record<string, unknown> = {},
  ) {
    super(detail || title)
  }
}

const place = "usher.token"
let token = sessionStorage.getItem(place)
/** What this tab logged in with last; "link" is the page of `usher ui`, which takes no token that a person could type. */
const entrancePlace = "usher.entrance"
let isByLink = sessionStorage.getItem(entrancePlace) === "link"
const watchers = new Set<() => void>()

/** Calls back when the daemon wants a login, or got one. */
export function watchLogin(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function isLoggedIn(): boolean {
  return token !== null
}

/**
 * Whether a link alone opens the page. A tab that came by one stays so whatever it is told later: once the daemon is gone,
 * another program may answer at its port and ask for `admin.token`.
 */
export const needsLink = (): boolean => isByLink

/** Keeps a token for this tab; null forgets it. */
export function keepToken(value: string | null): void {
  token = value
  if (value === null) sessionStorage.removeItem(place)
  else sessionStorage.setItem(place, value)
  for (const watcher of watchers) watcher()
}

/** Exchanges the key that `usher ui` put into the address for a token. */
export async function loginByKey(key: string): Promise<void> {
  const answer = await fetch("/v1/page/login", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ key }),
  })
  if (!answer.ok) throw await problemOf(answer)
  isByLink = true
  sessionStorage.setItem(entrancePlace, "link")
  keepToken(((await answer.json()) as { token: string }).token)
}

/** Keeps a token that the daemon accepts. */
export async function loginByToken(value: string): Promise<void> {
  const answer = await fetch("/v1/status", { headers: { Authorization: `Bearer ${value}` } })
  if (!answer.ok) throw await problemOf(answer)
  keepToken(value)
}

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text()
  try {
    const { title, status, detail, ...rest } = JSON.parse(text)
    return new Problem(status ?? answer.status, title ?? answer.statusText, detail ?? "", rest)
  } catch {
    return new Problem(answer.status, answer.statusText || `status ${answer.status}`, text.slice(0, 500))
  }
}

/** Sends a request; throws a `Problem` where the daemon refuses it or cannot be reached. */
export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers)
  if (token !== null) headers.set("Authorization", `Bearer ${token}`)
  let answer: Response
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" })
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw new Problem(0, "The daemon does not answer", "Is it running? Look at usher status.")
  }
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (answer.status === 401) {
    // the port of usher ui says so itself
    if (problem.detail.includes("usher ui")) isByLink = true
    keepToken(null)
  }
  throw problem
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, { signal })).json()
}

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await ask(path, body === undefined ? { method } : {
    method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })
  const text = await answer.text()
  return (text === "" ? null : JSON.parse(text)) as T
}

export const post = <T>(path: string, body?: unknown): Promise<T> => send("POST", path, body)
export const put = <T>(path: string, body?: unknown): Promise<T> => send("PUT", path, body)
export const del = <T>(path: string): Promise<T> => send("DELETE", path)

export async function text(path: string): Promise<string> {
  return (await ask(path)).text()
}

/** `query({q: "a b", limit: 2})` → `?q=a%20b&limit=2`; leaves out what is null or "". */
export function query(members: Record<string, string | number | boolean | null | undefined>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value as string)}`)
  return parts.length === 0 ? "" : `?${parts.join("&")}`
}
