import { useState } from "react"
import { del, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Fault } from "../parts/Says"
import { duration } from "../parts/Time"

interface Login {
  id: string
  counts: string
  at: string
  refusals: number
  successes: number
  under_way: number
  held_ms: number
}

/** How often AM refused answers, and the pauses that follow from it. */
export function Lockout() {
  const { data, problem, reload } = useResource<{ logins: Login[] }>("/v1/lockout", { every: 3000 })
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const clear = (path: string) => {
    setRefusal(null)
    del(path).then(reload, (error) => setRefusal(asProblem(error)))
  }
  const logins = [...data?.logins ?? []].sort((one, other) => other.refusals - one.refusals)
  return (
    <section className="panel broad">
      <div className="bar">
        <h2 className="grow">Refused answers</h2>
        {logins.length > 0 && <button type="button" onClick={() => clear("/v1/lockout")}>Clear all</button>}
      </div>
      {(refusal ?? problem) && <Fault problem={(refusal ?? problem)!} />}
      {data !== null && logins.length === 0 && <p className="dim">AM refused no answers of Usher&apos;s.</p>}
      {logins.length > 0 && (
        <table>
          <thead><tr>
            <th>At</th><th>Counts</th><th className="number">Refused</th><th className="number">Taken</th><th>Held</th>
            <th><span className="hidden">Actions</span></th>
          </tr></thead>
          <tbody>
            {logins.map((one) => (
              <tr key={one.id}>
                <th scope="row">{one.at} <span className="dim small">{one.id}</span></th>
                <td>{one.counts}</td>
                <td className={one.refusals > 0 ? "number bad" : "number"}>{one.refusals}</td>
                <td className="number">{one.successes}</td>
                <td>{one.held_ms > 0 ? <span className="bad">{duration(one.held_ms)}</span> : "–"}</td>
                <td>
                  <button type="button" aria-label={`Clear ${one.id}`}
                    onClick={() => clear(`/v1/lockout/${encodeURIComponent(one.id)}`)}>Clear</button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
