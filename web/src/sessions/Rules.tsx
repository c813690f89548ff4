import { useState } from "react"
import { del, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Command, Empty, Fault } from "../parts/Says"
import type { Session } from "../types"
import { JsonEntry } from "./JsonEntry"

const example = {
  name: "busy", when: { action: "AUTHENTICATE", by: "app" }, request: [{ respond: { status: 429 } }], first: 2,
}

/** The interceptors of a session: those of the overlay, and those added at run time. */
export function Rules({ session, counts, onChange }: {
  session: Session
  /** How many of the newest flows each had an effect on. */
  counts: Map<string, number>
  onChange(): void
}) {
  const [isAdding, setAdding] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const path = `/v1/sessions/${encodeURIComponent(session.id)}/rules`
  const remove = (name: string) => {
    setProblem(null)
    del(`${path}/${encodeURIComponent(name)}`).then(onChange, (error) => setProblem(asProblem(error)))
  }
  return (
    <>
      <div className="bar">
        <p className="grow dim">The first one runs first.</p>
        <button type="button" onClick={() => setAdding(true)}>Add…</button>
      </div>
      {problem && <Fault problem={problem} />}
      {session.rules.length === 0 ? (
        <Empty title="The session has no rules of its own">
          <p>Add one here, or in a terminal:</p>
          <Command>{`usher session rule ${session.name ?? session.id} add 'action=AUTHENTICATE' 'respond 429'`}</Command>
        </Empty>
      ) : (
        <table>
          <thead><tr>
            <th>Rule</th><th>What it is</th><th className="number">Hits</th><th><span className="hidden">Actions</span></th>
          </tr></thead>
          <tbody>
            {session.rules.map(({ name, rule }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{rule === null ? <span className="dim">of the overlay</span> : <code>{brief(rule)}</code>}</td>
                <td className="number">{counts.get(name) ?? 0}</td>
                <td>{rule !== null && (
                  <button type="button" aria-label={`Remove ${name}`} onClick={() => remove(name)}>Remove</button>
                )}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isAdding && (
        <JsonEntry title="Add a rule" path={path} example={example} onClose={() => setAdding(false)} onAdded={onChange}>
          <p>An entry of <code>interceptors</code>, as JSON. It runs before all others.</p>
        </JsonEntry>
      )}
    </>
  )
}

function brief(rule: Record<string, unknown>): string {
  const { name: _, ...rest } = rule
  return JSON.stringify(rest)
}
