import { useEffect, useState } from "react"
import { get } from "../api"
import { useKeys, useResource } from "../hooks"
import { Status } from "../parts/Label"
import { Fault, Loading } from "../parts/Says"
import { Time } from "../parts/Time"
import { go, link } from "../route"
import type { Flow, JourneyDetail } from "../types"
import { Outcome } from "./Outcome"
import { Timeline } from "./Timeline"
import { placeOf, spent, whoOf } from "./words"

/** More ids do not fit into one filter. */
const batch = 60
const mostBranches = 20

/** The flows of a journey, for what Usher did to them. */
async function flowsOf(detail: JourneyDetail, signal: AbortSignal): Promise<Map<string, Flow>> {
  const ids = [...new Set([...detail.steps, ...detail.calls].map((one) => one.flow))]
  const flows = new Map<string, Flow>()
  for (let at = 0; at < ids.length; at += batch) {
    const filter = encodeURIComponent(`flow=${ids.slice(at, at + batch).join(",")}`)
    const page = await get<{ flows: Flow[] }>(`/v1/flows?limit=1000&filter=calls%3Dyes&filter=${filter}`, signal)
    for (const flow of page.flows) flows.set(flow.id, flow)
  }
  return flows
}

const journey = (id: string, signal: AbortSignal) => get<JourneyDetail>(`/v1/journeys/${encodeURIComponent(id)}`, signal)

/** What belongs to a journey beyond its own answer. */
function useSurroundings(detail: JourneyDetail | null): { flows: Map<string, Flow>; branches: JourneyDetail[] } {
  const [found, setFound] = useState<{ flows: Map<string, Flow>; branches: JourneyDetail[] }>({ flows: new Map(), branches: [] })
  useEffect(() => {
    if (detail === null) return
    const ended = new AbortController()
    const load = async () => {
      const branches = await Promise.allSettled(
        detail.stepped_up_by.slice(0, mostBranches).map((id) => journey(id, ended.signal)))
      const flows = await flowsOf(detail, ended.signal).catch(() => new Map<string, Flow>())
      if (ended.signal.aborted) return
      setFound({ flows, branches: branches.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])) })
    }
    void load()
    return () => ended.abort()
  }, [detail])
  return found
}

/** One login. */
export function Detail({ id }: { id: string }) {
  const { data, problem, reload } = useResource<JourneyDetail>(`/v1/journeys/${encodeURIComponent(id)}`)
  const { flows, branches } = useSurroundings(data)
  useKeys((key) => {
    if (key !== "Escape") return false
    go(link("journeys"))
    return true
  })
  if (problem !== null) return <div className="page"><Fault problem={problem} retry={reload} /><a href={link("journeys")}>All journeys</a></div>
  if (data === null) return <Loading />
  const row = data.journey
  return (
    <article className="page" aria-label={`Journey ${row.id}`}>
      <p><a href={link("journeys")}>Journeys</a> <span className="dim">/ {row.id}</span></p>
      <div className="bar">
        <h1>{placeOf(row)}{whoOf(row) === "" ? "" : ` as ${whoOf(row)}`}</h1><Outcome journey={row} />
        <span className="grow" /><button type="button" onClick={reload}>Refresh</button>
      </div>
      <p className="facts dim">
        <span><Time at={row.began} whole /></span><span>{spent(row)}</span><span>from {row.client}</span>
        {row.ended_by !== null && <span>signed out by <a href={link("flows", row.ended_by)}>flow {row.ended_by}</a></span>}
      </p>
      {!row.complete && (
        <p className="warn">
          {data.flows_lost ? "Its beginning was replaced by newer flows (journal.memory)." : "Its beginning did not pass through Usher."}
        </p>
      )}
      {data.for !== null && (
        <p>Needed by <span className="mono">{data.for.method} {data.for.url}</span> → <Status status={data.for.status} />{" "}
          <a href={link("flows", data.for.flow)}>flow {data.for.flow}</a></p>
      )}
      {data.from !== null && (
        <p>Began with <span className="tag token">{data.from.session}</span>
          {data.from.journey !== null && <>, won by <a href={link("journeys", data.from.journey)}>journey {data.from.journey}</a></>}</p>
      )}
      <Timeline detail={data} flows={flows} branches={branches} />
      <LeftOut detail={data} />
      <Reached detail={data} />
    </article>
  )
}

function LeftOut({ detail }: { detail: JourneyDetail }) {
  const more = Object.entries(detail.left_out).filter(([, count]) => count > 0).map(([name, count]) => `${count} more ${name}`)
  const branches = detail.stepped_up_by.length - mostBranches
  if (branches > 0) more.push(`${branches} more step-ups`)
  return more.length === 0 ? null : <p className="dim">Not shown: {more.join(", ")}.</p>
}

function Reached({ detail }: { detail: JourneyDetail }) {
  if (detail.resources.length === 0) return null
  return (
    <section className="panel" aria-labelledby="reached">
      <h2 id="reached">What its credentials reached</h2>
      <table>
        <thead><tr><th scope="col">Origin</th><th scope="col" className="number">Requests</th><th scope="col" className="number">Paths</th><th scope="col">Statuses</th><th scope="col">First</th></tr></thead>
        <tbody>
          {detail.resources.map((resource) => (
            <tr key={resource.origin}>
              <td className="mono">{resource.origin}</td><td className="number">{resource.requests}</td>
              <td className="number">{resource.paths >= 1000 ? "1000 or more" : resource.paths}</td>
              <td>{resource.statuses.map((one) => <span key={one.status ?? 0}><Status status={one.status} />{one.count > 1 && ` × ${one.count}`} </span>)}</td>
              <td><a href={link("flows", resource.first)}>flow {resource.first}</a></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
