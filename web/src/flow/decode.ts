// Finds what is wrapped in a flow: JWTs, and JSON in base64 such as AM's advices.
import type { FlowDetail } from "../types"
import { bytesOf, isDeep, type Pair } from "./body"

export interface Decoded {
  /** Where it stands. */
  place: string
  kind: "JWT" | "base64"
  /** Its parts: header and claims of a JWT, else one. */
  parts: { name: string; value: unknown }[]
}

const most = 50
/** What begins with `{` begins with `e` in base64, and what begins with `[` with `W`. */
const wrapped = /(?<![A-Za-z0-9_+/-])[eW][A-Za-z0-9_+/-]{11,}={0,2}(?:\.[A-Za-z0-9_-]*){0,2}/g

function json(base64: string): unknown {
  try {
    const standard = base64.replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "")
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(standard))
    if (isDeep(text)) return undefined
    const value: unknown = JSON.parse(text)
    return typeof value === "object" ? value : undefined
  } catch {
    return undefined
  }
}

/** What a text has of them. */
export function decode(text: string, place: string): Decoded[] {
  const found: Decoded[] = []
  for (const [token] of text.slice(0, 256 * 1024).matchAll(wrapped)) {
    const [head, claims] = token.split(".")
    const first = json(head!)
    if (first === undefined || first === null) continue
    const second = claims === undefined ? undefined : json(claims)
    found.push(second === undefined
      ? { place, kind: "base64", parts: [{ name: "content", value: first }] }
      : { place, kind: "JWT", parts: [{ name: "header", value: first }, { name: "claims", value: second }] })
    if (found.length >= most) break
  }
  return found
}

/** Everything of a flow that could be decoded, once each. */
export function decodedOf(detail: FlowDetail): Decoded[] {
  const found: Decoded[] = []
  const look = (side: string, fields: Pair[], text: string | undefined) => {
    for (const field of fields) found.push(...decode(unescaped(field.value), `${side}: ${field.name}`))
    if (text !== undefined) found.push(...decode(unescaped(text), `${side}: body`))
  }
  const { request, sent, answer, response } = detail
  found.push(...decode(unescaped(request.url), "request: URL"))
  look("request", request.fields, request.body.text)
  if (sent !== null) look("sent request", sent.fields, sent.body.text)
  if (answer !== null) look("received response", answer.fields, answer.body.text)
  if (response !== null) look("response", response.fields, response.body.text)
  const seen = new Set<string>()
  return found.filter((one) => {
    const key = JSON.stringify(one.parts)
    return !seen.has(key) && seen.add(key)
  }).slice(0, most)
}

function unescaped(text: string): string {
  try {
    return text.includes("%") ? decodeURIComponent(text) : text
  } catch {
    return text
  }
}
