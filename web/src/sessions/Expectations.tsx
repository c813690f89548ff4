// What has to happen in a session, and whether it did.
import { useState, type FormEvent } from "react"
import { post, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Copy } from "../parts/Copy"
import { Status } from "../parts/Label"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { link } from "../route"
import type { Report } from "../types"
import { JsonEntry } from "./JsonEntry"

type Expectation = Report["expectations"][number]
type Failure = Expectation["failures"][number]

const packs = ["oauth-best-practice", "am-client", "sdk-habits"]
const order = { unmet: 0, pending: 1, met: 2 }
const tones = { unmet: "bad", pending: "warn", met: "ok" }
const words = { unmet: "✕ unmet", pending: "… pending", met: "✓ met" }

export function Expectations({ id, name }: { id: string; name: string }) {
  const path = `/v1/sessions/${encodeURIComponent(id)}`
  const { data, problem, reload } = useResource<Report>(`${path}/report`, { every: 2000 })
  const [isAdding, setAdding] = useState(false)
  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  const entries = [...data.expectations].sort((one, other) => order[one.verdict] - order[other.verdict])
  const count = (verdict: Expectation["verdict"]) => entries.filter((one) => one.verdict === verdict).length
  return (
    <>
      <div className="bar">
        <p className="grow" role="status">
          {data.flows} {data.flows === 1 ? "flow" : "flows"} judged: {count("met")} met, {count("pending")} pending,
          {" "}{count("unmet")} unmet
        </p>
        <Pack path={path} onAdded={reload} />
        <button type="button" onClick={() => setAdding(true)}>Add…</button>
      </div>
      {problem && <Fault problem={problem} />}
      {entries.length === 0 ? (
        <Empty title="Nothing is expected yet">
          <p>Add a pack of rules or an expectation here, or in a terminal:</p>
          <Command>{`usher session expect ${name} 'action=START_AUTHENTICATE count=1' 'use=am-client'`}</Command>
        </Empty>
      ) : (
        <table>
          <thead><tr>
            <th>Verdict</th><th>Expectation</th><th>Wanted</th><th className="number">Counted</th><th>Why</th>
          </tr></thead>
          <tbody>{entries.map((one) => <Row key={`${one.pack} ${one.name}`} entry={one} />)}</tbody>
        </table>
      )}
      {isAdding && (
        <JsonEntry
          title="Add an expectation" path={`${path}/expectations`}
          example={{ name: "one logout", when: { action: "LOGOUT" }, count: 1 }}
          onClose={() => setAdding(false)} onAdded={reload}
        >
          <p>An entry of <code>expect</code>, as JSON. It judges the flows from now on.</p>
        </JsonEntry>
      )}
    </>
  )
}

function Row({ entry }: { entry: Expectation }) {
  return (
    <tr>
      <td className={`verdict ${tones[entry.verdict]}`}><strong>{words[entry.verdict]}</strong></td>
      <th scope="row">
        {entry.name}{entry.pack !== null && <> <span className="tag">{entry.pack}</span></>}
        {entry.expected !== entry.name && <div className="dim small">{entry.expected}</div>}
      </th>
      <td>{entry.wanted}</td>
      <td className="number">{entry.counted}</td>
      <td>
        {entry.verdict !== "met" && entry.because}
        {entry.failures.map((one) => <Failed key={one.flow} failure={one} />)}
        {entry.verdict !== "met" && entry.nearest !== null && <Failed failure={entry.nearest} isNearest />}
        {entry.flows.length > 0 && (
          <details>
            <summary>{entry.flows.length} {entry.flows.length === 1 ? "flow" : "flows"}</summary>
            {entry.flows.slice(0, 50).map((flow) => <span key={flow}><a href={link("flows", flow)}>{flow}</a> </span>)}
          </details>
        )}
        {(entry.source ?? entry.place) !== null && <div className="dim small">{entry.source ?? entry.place}</div>}
      </td>
    </tr>
  )
}

/** A flow that failed, or came nearest, with the term that decided. */
function Failed({ failure, isNearest = false }: { failure: Failure; isNearest?: boolean }) {
  return (
    <div className="failure">
      {isNearest ? "Nearest: " : ""}<a href={link("flows", failure.flow)}>{failure.request ?? failure.flow}</a>
      {" "}{failure.status !== null && <Status status={failure.status} />} {failure.because}
      {failure.curl !== null && <> <Copy text={failure.curl} label="Copy as curl" /></>}
    </div>
  )
}

function Pack({ path, onAdded }: { path: string; onAdded(): void }) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const use = String(new FormData(event.currentTarget).get("pack"))
    setProblem(null)
    post(`${path}/expectations`, { use }).then(onAdded, (error) => setProblem(asProblem(error)))
  }
  return (
    <form className="bar" onSubmit={add}>
      {problem && <span className="bad" role="alert">{problem.detail || problem.title}</span>}
      <select name="pack" aria-label="Pack of rules">{packs.map((pack) => <option key={pack}>{pack}</option>)}</select>
      <button type="submit">Add the pack</button>
    </form>
  )
}
