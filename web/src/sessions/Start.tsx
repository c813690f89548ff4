import { useMemo, useState, type FormEvent } from "react"
import type { OpenedSession } from "../../../clients/node/api"
import { post, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Code } from "../parts/Code"
import { Dialog } from "../parts/Dialog"
import { Remarks, remarksOf } from "../parts/Remarks"
import { Fault } from "../parts/Says"
import { go, link } from "../route"
import { remember } from "./opened"

const example = `interceptors:
  - name: no payments
    when: { path: /pay }
    request: [{ respond: { status: 201, json: { id: 1 } } }]
expect:
  - use: am-client
  - { name: one logout, when: { action: LOGOUT }, count: 1 }
`

/** Opens a test session: its name, its life, and what it adds to the configuration. */
export function Start({ onClose }: { onClose(): void }) {
  const [overlay, setOverlay] = useState("")
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const remarks = remarksOf(problem)
  const lines = useMemo(() => remarksOf(problem).flatMap(({ line }) => line ?? []), [problem])

  const start = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? "").trim() || undefined
    setBusy(true)
    setProblem(null)
    try {
      const session = await post<OpenedSession>("/v1/sessions", {
        name: text("name"), ttl: text("ttl"), overlay: overlay.trim() === "" ? undefined : overlay,
        port: form.has("port") || undefined, robot: form.has("robot") || undefined,
      })
      remember(session)
      onClose()
      go(link("sessions", session.id))
    } catch (error) {
      setProblem(asProblem(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title="Start a test session" wide onClose={onClose} footer={
      <>
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="submit" form="start" className="primary" disabled={isBusy}>Start</button>
      </>
    }>
      <form id="start" className="form" onSubmit={start}>
        <div className="columns">
          <div>
            <label htmlFor="start-name">Name</label>
            <input id="start-name" name="name" maxLength={64} pattern="[A-Za-z0-9._\-]+" autoFocus autoComplete="off"
              placeholder="checkout" title="Letters, digits, dots, dashes and underscores" />
          </div>
          <div>
            <label htmlFor="start-ttl">Ends after</label>
            <input id="start-ttl" name="ttl" pattern="[1-9][0-9]{0,4}(s|m|h)" placeholder="1h" autoComplete="off"
              title="A time such as 10m, at most 24h" />
          </div>
        </div>
        <label className="check">
          <input type="checkbox" name="port" /> A port of its own, for programs that send no credentials
        </label>
        <label className="check">
          <input type="checkbox" name="robot" /> <span>Borrow a test user of <code>robots</code></span>
        </label>
        <div>
          <div className="bar">
            <span className="grow">
              <strong>Overlay</strong> <span className="dim">YAML or JSON, for this session alone</span>
            </span>
            <button type="button" onClick={() => setOverlay(example)}>An example</button>
          </div>
          <Code value={overlay} language="yaml" label="Overlay" onChange={setOverlay} faults={lines} />
        </div>
        {problem && (remarks.length === 0 ? <Fault problem={problem} /> : (
          <div className="fault" role="alert">
            <p><strong>The overlay has faults</strong></p><Remarks remarks={remarks} />
          </div>
        ))}
      </form>
    </Dialog>
  )
}
