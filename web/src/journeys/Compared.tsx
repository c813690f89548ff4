import { useMemo } from "react"
import { diff } from "../flow/diff"
import { Line } from "../flow/HeadDiff"
import { useKeys, useResource } from "../hooks"
import { Fault, Loading } from "../parts/Says"
import { go, link } from "../route"
import type { JourneyDetail } from "../types"
import { steadyLines } from "./words"

/** Two logins side by side. */
export function Compared({ ids: [one, other] }: { ids: [string, string] }) {
  const first = useResource<JourneyDetail>(`/v1/journeys/${encodeURIComponent(one)}`)
  const second = useResource<JourneyDetail>(`/v1/journeys/${encodeURIComponent(other)}`)
  useKeys((key) => {
    if (key !== "Escape") return false
    go(link("journeys"))
    return true
  })
  const rows = useMemo(
    () => (first.data && second.data ? diff(steadyLines(first.data), steadyLines(second.data)) : null), [first.data, second.data])
  const problem = first.problem ?? second.problem
  const isSame = rows?.every((row) => row.before === row.after) ?? false
  return (
    <article className="page" aria-label="Two journeys compared">
      <p><a href={link("journeys")}>Journeys</a> <span className="dim">/ {one} and {other}</span></p>
      <div className="bar">
        <h1>Two journeys compared</h1>
        {rows !== null && <span className={isSame ? "ok" : "warn"}>{isSame ? "They went alike." : "They differ."}</span>}
        <span className="grow" />
        <button type="button" onClick={() => go(link("journeys", other, one))}>Swap</button>
      </div>
      <p className="dim">Times, counts and ids do not count; aliases are numbered by their order.</p>
      {problem !== null && <Fault problem={problem} />}
      {rows === null && problem === null && <Loading />}
      {rows !== null && (
        <table className="diff halves">
          <thead>
            <tr>
              <th scope="col"><a href={link("journeys", one)}>Journey {one}</a></th>
              <th scope="col"><a href={link("journeys", other)}>Journey {other}</a></th>
            </tr>
          </thead>
          <tbody>{rows.map((row, index) => <Line key={index} row={row} />)}</tbody>
        </table>
      )}
    </article>
  )
}
