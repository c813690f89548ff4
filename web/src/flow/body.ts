import type { FlowDetail } from "../types"

/** A body as the journal keeps it; the comment says why it could not be read. */
export type Body = FlowDetail["request"]["body"] & { comment?: string }

export const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))

/** What reads JSON calls itself for each level: beyond, it is text. */
const deepest = 64

/** Whether objects and lists of a text of JSON are nested deeper than is shown. */
export function isDeep(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (letter === "\"") isQuoted = !isQuoted
    else if (isQuoted) at += letter === "\\" ? 1 : 0
    else if (letter === "[" || letter === "{") depth += 1
    else if (letter === "]" || letter === "}") depth -= 1
    if (depth > deepest) return true
  }
  return false
}

/** The value of a text of JSON; undefined if it is none. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined || !/^\s*[[{]/.test(text) || isDeep(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A body as lines for people. */
export function pretty(body: Body): string {
  const json = jsonOf(body.text)
  if (json !== undefined) return JSON.stringify(json, null, 2)
  return body.text ?? (body.base64 === undefined ? "" : hex(bytesOf(body.base64)))
}

/** `00000000  47 45 54 …  GET…`, a line for 16 bytes. */
export function hex(bytes: Uint8Array, most = 64 * 1024): string {
  const lines = []
  for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
    const row = [...bytes.subarray(at, at + 16)]
    const digits = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("")
    lines.push(`${at.toString(16).padStart(8, "0")}  ${digits.padEnd(47)}  ${letters}`)
  }
  if (bytes.length > most) lines.push(`… ${bytes.length - most} more bytes`)
  return lines.join("\n")
}

export interface Pair { name: string; value: string }

export function pairsOf(text: string): Pair[] {
  return [...new URLSearchParams(text)].map(([name, value]) => ({ name, value }))
}

export function queryOf(url: string): Pair[] {
  const question = url.indexOf("?")
  // an alias such as session#1 is no fragment
  return question < 0 ? [] : pairsOf(url.slice(question + 1))
}

/** The parameters of a body that a form sent. */
export function formOf(message: { fields: Pair[]; body: Body }): Pair[] {
  const type = message.fields.find((field) => field.name.toLowerCase() === "content-type")?.value ?? ""
  return type.startsWith("application/x-www-form-urlencoded") ? pairsOf(message.body.text ?? "") : []
}

/** `a=1; b=2` of Cookie, and the first pair of each Set-Cookie with its attributes. */
export function cookiesOf(fields: Pair[]): (Pair & { attributes: string })[] {
  const cookies = []
  for (const field of fields) {
    const name = field.name.toLowerCase()
    const parts = field.value.split(/;\s*/)
    const pairs = name === "cookie" ? parts : name === "set-cookie" ? parts.slice(0, 1) : []
    for (const pair of pairs) {
      const equals = pair.indexOf("=")
      cookies.push({
        name: equals < 0 ? pair : pair.slice(0, equals), value: equals < 0 ? "" : pair.slice(equals + 1),
        attributes: name === "set-cookie" ? parts.slice(1).join("; ") : "",
      })
    }
  }
  return cookies
}

/** Whether Usher left the body as it was. */
export function sameBody(message: { body: Body }, other: { body: Body } | null): boolean {
  return other === null || (message.body.text === other.body.text && message.body.base64 === other.body.base64)
}

/** What people typed instead of a body. A field for text has LF alone; a body whose lines all end with CRLF, as a form's, keeps them. */
export function withLineEnds(typed: string, before: string): string {
  const isWindows = before.includes("\r\n") && !/[\r\n]/.test(before.replace(/\r\n/g, ""))
  return isWindows ? typed.replace(/\r?\n/g, "\r\n") : typed
}

/** `Name: value` a line; null for a line that is none. */
export function headersOf(text: string): [string, string][] | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const pairs = lines.map((line) => /^([^:\s]+):\s*(.*)$/.exec(line))
  return pairs.every((pair) => pair !== null) ? pairs.map((pair) => [pair![1]!, pair![2]!.trimEnd()]) : null
}

/** A URL that shows the image in a body; null if there is none that is whole. */
export function imageOf(message: { fields: Pair[]; body: Body }): string | null {
  const type = message.fields.find((field) => field.name.toLowerCase() === "content-type")?.value ?? ""
  const kind = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)\b/.exec(type)?.[0]
  return kind === undefined || message.body.base64 === undefined || message.body.cut ? null : `data:${kind};base64,${message.body.base64}`
}
