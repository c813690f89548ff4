import { useState } from "react"
import { put, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Fault } from "../parts/Says"

const levels = ["error", "warning", "info", "debug"]

/** The level of the log, until the next reload. */
export function LogLevel() {
  const { data, problem, reload } = useResource<{ level: string; configured: string }>(
    "/v1/log/level", { every: 10_000 })
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const turn = (level: string) => {
    setRefusal(null)
    put("/v1/log/level", { level }).then(reload, (error) => setRefusal(asProblem(error)))
  }
  return (
    <section className="panel">
      <h2>Log</h2>
      {(refusal ?? problem) && <Fault problem={(refusal ?? problem)!} />}
      {data !== null && (
        <p className="bar">
          <label htmlFor="level">Level</label>
          <select id="level" value={data.level} onChange={(event) => turn(event.target.value)}>
            {levels.map((level) => <option key={level}>{level}</option>)}
          </select>
          <span className="dim">until the next reload; the configuration says {data.configured}</span>
        </p>
      )}
    </section>
  )
}
