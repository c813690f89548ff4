import { useMemo, useState } from "react"
import { useResource } from "../hooks"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { Time } from "../parts/Time"
import { Countdown } from "../pending/Countdown"
import { link, type Route } from "../route"
import { endOf, One } from "../sessions/One"
import { Start } from "../sessions/Start"
import type { Report, Session } from "../types"

export function Sessions({ route }: { route: Route }) {
  const id = route.parts[1]
  return <div className="page">{id === undefined ? <All /> : <One key={id} id={id} />}</div>
}

function All() {
  const { data, problem, reload } = useResource<{ sessions: Session[] }>("/v1/sessions", { every: 3000 })
  const [isStarting, setStarting] = useState(false)
  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  return (
    <>
      <div className="bar">
        <h1 className="grow">Test sessions</h1>
        <button type="button" className="primary" onClick={() => setStarting(true)}>Start…</button>
      </div>
      {problem && <Fault problem={problem} />}
      {data.sessions.length === 0 ? (
        <Empty title="No test session is open">
          <p>A session gives one test a proxy URL, rules and expectations of its own. Start one here, or in a terminal:</p>
          <Command>usher session start --name checkout --ttl 10m</Command>
        </Empty>
      ) : (
        <table className="list">
          <thead><tr>
            <th>Name</th><th>Id</th><th>Began</th><th>Ends in</th><th className="number">Flows</th>
            <th>Expectations</th><th className="number">Rules</th><th>Port</th>
          </tr></thead>
          <tbody>{data.sessions.map((session, place) => (
            <Row key={session.id} session={session} isJudged={place < judged} />
          ))}</tbody>
        </table>
      )}
      {isStarting && <Start onClose={() => setStarting(false)} />}
    </>
  )
}

/** So many sessions are judged for the list: each is a question of its own. */
const judged = 50

function Row({ session, isJudged }: { session: Session; isJudged: boolean }) {
  const { id, name, began, ends, rules, port, robot } = session
  const { data } = useResource<Report>(
    isJudged ? `/v1/sessions/${encodeURIComponent(id)}/report` : null, { every: 5000 })
  const until = useMemo(() => endOf(session), [ends])
  return (
    <tr>
      <th scope="row">
        <a href={link("sessions", id)}>{name ?? id}</a>{robot !== null && <> <span className="tag">{robot}</span></>}
      </th>
      <td><code>{id}</code></td>
      <td><Time at={began} /></td>
      <td><Countdown until={until} /></td>
      <td className="number">{data?.flows ?? "…"}</td>
      <td>{data === null ? "…" : <Verdict report={data} />}</td>
      <td className="number">{rules.length}</td>
      <td>{port ?? <span className="dim">none</span>}</td>
    </tr>
  )
}

function Verdict({ report }: { report: Report }) {
  const all = report.expectations
  if (all.length === 0) return <span className="dim">none</span>
  const count = (verdict: string) => all.filter((one) => one.verdict === verdict).length
  const [unmet, pending] = [count("unmet"), count("pending")]
  if (unmet > 0) return <span className="bad">✕ {unmet} of {all.length} unmet</span>
  if (pending > 0) return <span className="warn">… {pending} of {all.length} pending</span>
  return <span className="ok">✓ {all.length} met</span>
}
