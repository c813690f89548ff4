// The tabs of one flow.
import { useMemo, useState } from "react"
import { Copy } from "../parts/Copy"
import { Json } from "../parts/Json"
import { Label, Status } from "../parts/Label"
import { duration, size } from "../parts/Time"
import { link } from "../route"
import type { FlowDetail } from "../types"
import { bytesOf, hex, imageOf, jsonOf, pretty, type Body, type Pair } from "./body"
import type { Decoded } from "./decode"

/** So many rows are shown at once: a form may have tens of thousands. */
const brief = 200

/** Names and values, such as fields. */
export function Pairs({ title, pairs }: { title: string; pairs: (Pair & { attributes?: string })[] }) {
  const [most, setMost] = useState(brief)
  if (pairs.length === 0) return null
  return (
    <>
      <table className="pairs">
        <caption>{title}</caption>
        <tbody>
          {pairs.slice(0, most).map((pair, index) => (
            <tr key={index}>
              <th scope="row">{pair.name}</th>
              <td className="mono">{pair.value}{pair.attributes ? <span className="dim">; {pair.attributes}</span> : null}</td>
              <td><Copy text={pair.value} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {pairs.length > most && (
        <button type="button" onClick={() => setMost(most + 1000)}>{pairs.length - most} more</button>
      )}
    </>
  )
}

/** A body as a tree, as an image, as text, or as bytes. */
export function BodyView({ title, message }: { title: string; message: { fields: Pair[]; body: Body } }) {
  const { body } = message
  const json = useMemo(() => jsonOf(body.text), [body.text])
  const image = imageOf(message)
  const kinds = [json !== undefined && "Tree", image !== null && "Image", body.base64 === undefined && "Text", "Hex"]
    .filter((kind): kind is string => kind !== false)
  const [chosen, setChosen] = useState<string | null>(null)
  const kind = chosen !== null && kinds.includes(chosen) ? chosen : kinds[0]
  const text = body.text ?? ""
  if (body.bytes === 0 && text === "") return <section className="message"><h3>{title} <span className="dim">none</span></h3></section>
  return (
    <section className="message" aria-label={title}>
      <div className="bar">
        <h3>{title}</h3><span className="dim">{size(body.bytes)}{body.cut ? ", the rest was not kept" : ""}</span>
        <span className="grow" />
        {kinds.map((one) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => setChosen(one)}>{one}</button>
        ))}
        <Copy text={body.text ?? body.base64 ?? ""} />
      </div>
      {body.comment !== undefined && <p className="warn">{body.comment}</p>}
      {kind === "Tree" && <Json value={json} />}
      {kind === "Image" && <img className="body-image" src={image!} alt={title} />}
      {kind === "Text" && <pre className="head" tabIndex={0}>{pretty(body)}</pre>}
      {kind === "Hex" && (
        <pre className="head hex" tabIndex={0}>
          {hex(body.base64 === undefined ? new TextEncoder().encode(text) : bytesOf(body.base64))}
        </pre>
      )}
    </section>
  )
}

export function DecodedView({ found }: { found: Decoded[] }) {
  return (
    <>
      {found.map((one, index) => (
        <section key={index} className="message" aria-label={`${one.kind} in ${one.place}`}>
          <h3>{one.kind} <span className="dim">in {one.place}</span></h3>
          {one.parts.map((part) => <Json key={part.name} name={one.parts.length > 1 ? part.name : undefined} value={part.value} />)}
          {one.kind === "JWT" && <Dates claims={one.parts[1]?.value} />}
        </section>
      ))}
    </>
  )
}

/** The times of a JWT, in the viewer's zone. */
function Dates({ claims }: { claims: unknown }) {
  const known = { iat: "issued", nbf: "valid from", auth_time: "signed in", exp: "expires" }
  const members = (claims ?? {}) as Record<string, unknown>
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
  const found = Object.entries(known).flatMap(([key, name]) => {
    const value = members[key]
    const date = new Date(typeof value === "number" ? value * 1000 : NaN)
    // 1e20 is a number, and no date
    return Number.isNaN(date.getTime()) ? [] : [`${name} ${format.format(date)}`]
  })
  return found.length === 0 ? null : <p className="dim">{found.join(", ")}</p>
}

const phases: [keyof FlowDetail["timing_ms"], string, string][] = [
  ["waiting", "Waiting in Usher", "the request's body, interceptors, a connection"],
  ["resolving", "Name", "the host's addresses"],
  ["connecting", "Connect", "TCP"],
  ["securing", "TLS", "the handshake"],
  ["answering", "Answer", "until the response began"],
  ["receiving", "Body", "until the response was over"],
]

/** The phases of an exchange as a waterfall; then those of the calls that were made for it. */
export function Timing({ detail, calls }: { detail: FlowDetail; calls: FlowDetail[] }) {
  const total = Math.max(1, detail.flow.duration_ms)
  let begin = 0
  const bars = phases.filter(([key]) => detail.timing_ms[key] !== null).map(([key, name, about]) => {
    const time = detail.timing_ms[key]!
    const from = begin
    begin += time
    return { id: key, name, about, from, time, call: false }
  })
  const start = Date.parse(detail.flow.began)
  const inner = calls.map((call) => ({
    id: call.flow.id, name: call.flow.action ?? `${call.flow.method} ${call.flow.status ?? ""}`, about: call.flow.url,
    from: Date.parse(call.flow.began) - start, time: call.flow.duration_ms, call: true,
  }))
  const all = [...bars, ...inner]
  const length = Math.max(total, ...all.map((bar) => bar.from + bar.time))
  return (
    <table className="waterfall">
      <caption className="hidden">Times</caption>
      <thead><tr><th scope="col">Phase</th><th scope="col" className="number">Time</th><th scope="col">From 0 to {duration(length)}</th></tr></thead>
      <tbody>
        {all.map((bar) => (
          <tr key={bar.id}>
            <th scope="row" title={bar.about}>{bar.call ? "↳ " : ""}{bar.name}</th>
            <td className="number">{duration(bar.time)}</td>
            <td>
              <div
                className={`bar-time ${bar.call ? "call" : bar.id}`}
                style={{ marginLeft: `${(bar.from / length) * 100}%`, width: `max(2px, ${(bar.time / length) * 100}%)` }}
              />
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">All of it</th><td className="number">{duration(detail.flow.duration_ms)}</td>
          <td className="dim">{detail.flow.attempts > 1 && `sent ${detail.flow.attempts} times; what came before the last attempt counts as its connection`}</td>
        </tr>
      </tbody>
    </table>
  )
}

/** Usher's own calls for a flow, and its earlier attempts, with what they called in turn. */
export function Calls({ calls, depth = 0 }: { calls: FlowDetail[]; depth?: number }) {
  return (
    <ol className="calls">
      {calls.map((call) => (
        <li key={call.flow.id}>
          <a href={link("flows", call.flow.id)}>
            <Status status={call.flow.status} error={call.flow.error} /> {call.flow.method} <Label action={call.flow.action} />{" "}
            <span className="mono">{call.flow.url}</span>
          </a>{" "}
          <span className="dim">
            {call.flow.marks.includes("attempt") ? "an earlier attempt, " : ""}{duration(call.flow.duration_ms)}
          </span>
          {depth < 4 && call.calls.length > 0 && <Calls calls={call.calls as FlowDetail[]} depth={depth + 1} />}
        </li>
      ))}
    </ol>
  )
}

export function Events({ events }: { events: FlowDetail["events"] }) {
  return (
    <table className="events">
      <caption className="hidden">Events</caption>
      <thead><tr><th scope="col" className="number">At</th><th scope="col">Event</th><th scope="col">What happened</th></tr></thead>
      <tbody>
        {events.map((event, index) => (
          <tr key={index}>
            <td className="number">{event.at_ms} ms</td><td><span className="tag">{event.event}</span></td>
            <td>{event.text}{event.did !== undefined && event.did !== "applied" && <span className="tag">{event.did.replace(/_/g, " ")}</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
