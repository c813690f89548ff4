import { useCallback, useMemo, useRef, useState } from "react"
import { get, query } from "../api"
import { isWhole } from "../flows/completion"
import { FilterLine } from "../flows/FilterLine"
import { useKeys, useResource } from "../hooks"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { Time, duration } from "../parts/Time"
import { go, link, replaceRoute, type Route } from "../route"
import type { Journey } from "../types"
import { Outcome } from "./Outcome"
import { placeOf, whoOf } from "./words"

interface Page { journeys: Journey[]; next: number | null }

const ownKeys = [
  { key: "outcome", about: "how the login ended", values: ["running", "suspended", "abandoned", "succeeded", "failed", "unknown"] },
  { key: "by", about: "who ran it", values: ["app", "usher"] },
  { key: "login", about: "the name that was entered" },
]

/** `a=1 "b=x y"` → its terms. */
const termsOf = (text: string): string[] =>
  (text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((term) => term.replace(/"/g, "")).filter(isWhole)

const pathOf = (filter: string, before: number | null): string => {
  const terms = termsOf(filter).map((term) => `&filter=${encodeURIComponent(term)}`).join("")
  return `/v1/journeys${query({ limit: 100, before })}${terms}`
}

/** All logins, the newest first; two of them can be chosen to compare. */
export function List({ route }: { route: Route }) {
  const filter = route.query.get("q") ?? ""
  const { data, problem, reload } = useResource<Page>(pathOf(filter, null), { every: 4000 })
  const [older, setOlder] = useState<{ filter: string; pages: Page[] }>({ filter, pages: [] })
  const [chosen, setChosen] = useState<string[]>([])
  const field = useRef<HTMLInputElement>(null)
  const pages = older.filter === filter ? older.pages : []
  const journeys = useMemo(() => {
    const seen = new Set<string>()
    // the first page moves on while older ones stay
    return [...(data?.journeys ?? []), ...pages.flatMap((page) => page.journeys)].filter((one) => !seen.has(one.id) && seen.add(one.id))
  }, [data, pages])
  const next = pages.length > 0 ? pages[pages.length - 1].next : data?.next ?? null

  const setFilter = useCallback((q: string) => replaceRoute(link("journeys") + query({ q })), [])
  const more = async () => {
    const page = await get<Page>(pathOf(filter, next))
    setOlder({ filter, pages: [...pages, page] })
  }
  const choose = (id: string, isOn: boolean) => setChosen((old) => (isOn ? [...old, id].slice(-2) : old.filter((one) => one !== id)))
  useKeys((key) => {
    if (key !== "/") return false
    field.current?.focus()
    return true
  })

  const isWrong = problem?.status === 400
  return (
    <div className="page">
      <div className="bar">
        <h1>Journeys</h1>
        <FilterLine
          value={filter} onChange={setFilter} field={field} fault={isWrong ? problem.detail : null} more={ownKeys}
          placeholder="Filter: outcome=failed tree=Login since=1h"
        />
        <button
          type="button" disabled={chosen.length !== 2} title="Choose two logins"
          onClick={() => go(link("journeys", chosen[0], chosen[1]))}
        >Compare two</button>
      </div>
      {problem !== null && !isWrong && <Fault problem={problem} retry={reload} />}
      {data === null && problem === null && <Loading />}
      {data !== null && journeys.length === 0 && (
        <Empty title={filter === "" ? "No logins yet" : "No login fits this filter"}>
          <p>A login through Usher at an AM of the configuration appears here. The sandbox has an AM to try:</p>
          <Command>usher sandbox</Command>
        </Empty>
      )}
      {journeys.length > 0 && (
        <div className="scroll-x">
          <table className="list">
            <thead>
              <tr>
                <th scope="col"><span className="hidden">Compare</span></th><th scope="col">Began</th><th scope="col">Login</th>
                <th scope="col">Who</th><th scope="col" className="number">Steps</th><th scope="col" className="number">Took</th>
                <th scope="col" className="number">Tokens</th><th scope="col" className="number">Origins</th><th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {journeys.map((journey) => (
                <tr key={journey.id}>
                  <td>
                    <input
                      type="checkbox" aria-label={`Compare journey ${journey.id}`} checked={chosen.includes(journey.id)}
                      onChange={(event) => choose(journey.id, event.target.checked)}
                    />
                  </td>
                  <td><a href={link("journeys", journey.id)}><Time at={journey.began} /></a></td>
                  <td>{placeOf(journey)}</td>
                  <td>{whoOf(journey)}</td>
                  <td className="number">{journey.steps}</td>
                  <td className="number">{duration(journey.duration_ms)}</td>
                  <td className="number">{journey.tokens}</td>
                  <td className="number">{journey.origins}</td>
                  <td><Outcome journey={journey} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && <button type="button" onClick={() => void more()}>Older ones</button>}
    </div>
  )
}
