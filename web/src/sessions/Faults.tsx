// The named faults, each with a switch: what an app sees of it and what it should do.
import { useState } from "react"
import { del, post, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Fault as Refusal, Loading } from "../parts/Says"
import type { Session } from "../types"

interface NamedFault { name: string; concerns: string; sees: string; remedy: string }
type Times = "" | "1" | "2" | "3"

/** The rule that stands for a fault; `usher session fault` names it likewise. */
const ruleName = (fault: string): string => `fault ${fault}`

export function Faults({ session, counts, onChange }: {
  session: Session
  counts: Map<string, number>
  onChange(): void
}) {
  const { data, problem, reload } = useResource<NamedFault[]>("/v1/faults")
  const [search, setSearch] = useState("")
  const [times, setTimes] = useState<Times>("")
  const [refusal, setRefusal] = useState<Problem | null>(null)
  if (data === null) return problem === null ? <Loading /> : <Refusal problem={problem} retry={reload} />

  const rules = `/v1/sessions/${encodeURIComponent(session.id)}/rules`
  const active = new Set(session.rules.map((rule) => rule.name))
  const turn = async (fault: string, isOn: boolean) => {
    setRefusal(null)
    try {
      const first = times === "" ? undefined : Number(times)
      if (isOn) await post(rules, { name: ruleName(fault), fault, first })
      else await del(`${rules}/${encodeURIComponent(ruleName(fault))}`)
    } catch (error) {
      setRefusal(asProblem(error))
    }
    onChange()
  }
  const wanted = search.toLowerCase()
  const shown = data.filter((fault) => Object.values(fault).join(" ").toLowerCase().includes(wanted))
  return (
    <>
      <div className="bar">
        <input className="grow" type="search" aria-label="Search for a fault" placeholder="Search" value={search}
          onChange={(event) => setSearch(event.target.value)} />
        <label htmlFor="times">Switched on for</label>
        <select id="times" value={times} onChange={(event) => setTimes(event.target.value as Times)}>
          <option value="">all exchanges</option>
          <option value="1">the next exchange</option>
          <option value="2">the next 2</option>
          <option value="3">the next 3</option>
        </select>
      </div>
      {refusal && <Refusal problem={refusal} />}
      <table className="faults">
        <thead><tr>
          <th>On</th><th>Fault</th><th>Concerns</th><th>The app sees</th><th>It should</th>
          <th className="number">Hits</th>
        </tr></thead>
        <tbody>
          {shown.map(({ name, concerns, sees, remedy }) => {
            const isOn = active.has(ruleName(name))
            return (
              <tr key={name}>
                <td><button type="button" role="switch" className="switch" aria-checked={isOn} aria-label={name}
                  onClick={() => void turn(name, !isOn)} /></td>
                <th scope="row"><code>{name}</code></th>
                <td>{concerns}</td><td>{sees}</td><td>{remedy}</td>
                <td className="number">{counts.get(ruleName(name)) ?? (isOn ? 0 : "")}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}
