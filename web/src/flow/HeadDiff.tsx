import type { ReactNode } from "react"
import { pretty, sameBody } from "./body"
import { changedBy, editsOf, type Side } from "./changes"
import { diff, type DiffRow } from "./diff"
import type { FlowDetail } from "../types"

type Request = FlowDetail["request"]
type Answer = NonNullable<FlowDetail["response"]>
type Message = Request | Answer

const isRequest = (message: Message): message is Request => "method" in message

const firstLine = (message: Message): string =>
  isRequest(message) ? `${message.method} ${message.url}` : String(message.status)

interface DiffProps {
  side: Side
  title: string
  /** The titles of both columns. */
  names: [string, string]
  before: Message
  /** null: it was not changed. */
  after: Message | null
  events: FlowDetail["events"]
}

/** One message, before and after Usher's edits. */
export function MessageDiff({ side, title, names, before, after, events }: DiffProps) {
  const edits = editsOf(events, side)
  const other = after ?? before
  const rows: (DiffRow & { kind: "first" | "field" | "body" })[] = [
    { before: firstLine(before), after: firstLine(other), kind: "first" },
    ...diff(lines(before), lines(other)).map((row) => ({ ...row, kind: "field" as const })),
  ]
  if (!sameBody(before, other)) {
    rows.push(...diff(bodyLines(before), bodyLines(other)).map((row) => ({ ...row, kind: "body" as const })))
  }
  if (after === null) {
    return (
      <section className="message" aria-label={title}>
        <h3>{title} <span className="dim">{before.version}, unchanged</span></h3>
        <pre className="head" tabIndex={0}>{rows.map((row) => row.before).join("\n")}</pre>
      </section>
    )
  }
  return (
    <section className="message" aria-label={title}>
      <h3>{title}</h3>
      <table className="diff">
        <thead>
          <tr>
            <th scope="col">{names[0]} <span className="dim">{before.version}</span></th>
            <th scope="col">{names[1]} <span className="dim">{other.version}</span></th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => <Line key={index} row={row} by={changedBy(row, row.kind, edits)} />)}
        </tbody>
      </table>
    </section>
  )
}

/** A row of a comparison; without `by`, it has no third column. */
export function Line({ row, by }: { row: DiffRow; by?: string[] }) {
  const isChanged = row.before !== row.after
  const [before, after] = isChanged && row.before !== null && row.after !== null
    ? marked(row.before, row.after) : [row.before, row.after]
  return (
    <tr>
      <td className={isChanged && row.before !== null ? "removed" : undefined}>{before}</td>
      <td className={isChanged && row.after !== null ? "added" : undefined}>{after}</td>
      {by !== undefined && <td>{by.map((name) => <span key={name} className="tag">{name}</span>)}</td>}
    </tr>
  )
}

/** Both lines, with the part marked in which they differ. */
function marked(before: string, after: string): [ReactNode, ReactNode] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  // lines that have little in common are easier to read without marks
  if ((start + end) * 3 < Math.max(before.length, after.length)) return [before, after]
  const part = (line: string) => (
    <>{line.slice(0, start)}<mark>{line.slice(start, line.length - end)}</mark>{line.slice(line.length - end)}</>
  )
  return [part(before), part(after)]
}

function lines(message: Message): string[] {
  return message.fields.map((field) => `${field.name}: ${field.value}`)
}

function bodyLines(message: Message): string[] {
  return pretty(message.body).split("\n").slice(0, 2000)
}
