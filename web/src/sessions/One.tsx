// One test session: how programs come into it, its expectations, faults, rules and recordings.
import { useEffect, useMemo, useState } from "react"
import { del, query, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Dialog } from "../parts/Dialog"
import { Remarks } from "../parts/Remarks"
import { Empty, Fault, Loading } from "../parts/Says"
import { Tabs } from "../parts/Tabs"
import { Time } from "../parts/Time"
import { Countdown } from "../pending/Countdown"
import { go, link } from "../route"
import type { Flow, Session } from "../types"
import { Expectations } from "./Expectations"
import { Faults } from "./Faults"
import { Proxy } from "./Proxy"
import { Recordings } from "./Recordings"
import { Rules } from "./Rules"

/** The instant of `performance.now()` when a session ends. */
export function endOf(session: Session): number {
  return performance.now() + Date.parse(session.ends) - Date.now()
}

/** So many of the newest flows are counted. */
const most = 1000

/** The newest flows of a session, and how many of them each of its rules had an effect on. */
function useFlows(id: string): { flows: Flow[]; counts: Map<string, number> } {
  const path = `/v1/flows${query({ filter: `session=${id}`, limit: most })}`
  const { data } = useResource<{ flows: Flow[] }>(path, { every: 3000 })
  return useMemo(() => {
    const counts = new Map<string, number>()
    for (const { interceptors } of data?.flows ?? []) {
      for (const { name } of interceptors) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return { flows: data?.flows ?? [], counts }
  }, [data])
}

export function One({ id }: { id: string }) {
  const { data, problem, reload } = useResource<Session>(`/v1/sessions/${encodeURIComponent(id)}`, { every: 3000 })
  const [isStopping, setStopping] = useState(false)
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const { flows, counts } = useFlows(data?.id ?? id)
  const until = useMemo(() => (data === null ? 0 : endOf(data)), [data?.ends])
  useEffect(() => setRefusal(null), [id])

  if (problem?.status === 404) {
    return (
      <>
        <h1><a href={link("sessions")}>Test sessions</a> › {id}</h1>
        <Empty title="This session has ended"><p>{problem.detail}</p></Empty>
      </>
    )
  }
  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  const name = data.name ?? data.id
  const stop = () => {
    del(`/v1/sessions/${encodeURIComponent(data.id)}`).then(() => go(link("sessions")), (error) => {
      setStopping(false)
      setRefusal(asProblem(error))
    })
  }
  const faults = data.rules.filter((rule) => rule.name.startsWith("fault ")).length
  return (
    <>
      <div className="bar">
        <h1 className="grow"><a href={link("sessions")}>Test sessions</a> › {name}</h1>
        <button type="button" className="danger" onClick={() => setStopping(true)}>Stop…</button>
      </div>
      <dl className="facts">
        <dt>Id</dt><dd><code>{data.id}</code></dd>
        <dt>Began</dt><dd><Time at={data.began} whole /></dd>
        <dt>Ends in</dt><dd><Countdown until={until} /></dd>
        {data.robot !== null && <><dt>Test user</dt><dd>{data.robot}</dd></>}
        <dt>Flows</dt><dd>
          <a href={`${link("flows")}${query({ q: `session=${data.id}` })}`}>
            {flows.length < most ? flows.length : `${most} or more`} {flows.length === 1 ? "flow" : "flows"}
          </a>
        </dd>
      </dl>
      {(refusal ?? problem) && <Fault problem={(refusal ?? problem)!} />}
      <Remarks remarks={data.warnings} />
      <Proxy session={data} />
      <Tabs name={`Session ${name}`} tabs={[
        { id: "expectations", label: "Expectations", content: () => <Expectations id={data.id} name={name} /> },
        {
          id: "faults", label: "Faults", count: faults,
          content: () => <Faults session={data} counts={counts} onChange={reload} />,
        },
        {
          id: "rules", label: "Rules", count: data.rules.length,
          content: () => <Rules session={data} counts={counts} onChange={reload} />,
        },
        { id: "recordings", label: "Recordings", content: () => <Recordings id={data.id} /> },
      ]} />
      {isStopping && (
        <Dialog title={`Stop ${name}?`} onClose={() => setStopping(false)} footer={
          <>
            <button type="button" onClick={() => setStopping(false)}>Keep it</button>
            <button type="button" className="danger" onClick={stop}>Stop</button>
          </>
        }>
          <p>
            Its rules and expectations go; requests with its key are refused from then on. Its flows stay in the journal.
          </p>
        </Dialog>
      )}
    </>
  )
}
