import { useState } from "react"
import { query, text, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Copy } from "../parts/Copy"
import { Dialog } from "../parts/Dialog"
import { Fault } from "../parts/Says"

const forms: [string, string][] = [
  ["curl", "curl"], ["http", "HTTP"], ["har", "HAR"], ["test", "A case of usher test"], ["rule", "An interceptor"],
]

function pathOf(id: string, form: string, isRevealed: boolean): string {
  const reveal = isRevealed || null
  return form === "har" ? `/v1/flows.har${query({ q: `calls=yes flow=${id}`, reveal })}`
    : `/v1/flows/${encodeURIComponent(id)}/copy${query({ as: form, reveal })}`
}

/** A flow in the forms that other tools take, to look at and to copy. */
export function CopyDialog({ id, isRevealed, onClose }: { id: string; isRevealed: boolean; onClose(): void }) {
  const [form, setForm] = useState<string | null>(null)
  const [shown, setShown] = useState("")
  const [problem, setProblem] = useState<Problem | null>(null)
  const choose = async (form: string) => {
    setForm(form)
    setProblem(null)
    setShown("")
    try {
      setShown(await text(pathOf(id, form, isRevealed)))
    } catch (error) {
      setProblem(asProblem(error))
    }
  }
  return (
    <Dialog
      title="Copy as" onClose={onClose} wide
      footer={<>{shown !== "" && <Copy text={shown} />}<button type="button" onClick={onClose}>Close</button></>}
    >
      <div className="bar">
        {forms.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={form === name} onClick={() => void choose(name)}>{title}</button>
        ))}
      </div>
      {problem !== null && <Fault problem={problem} />}
      {shown !== "" && <pre className="head shown" tabIndex={0}>{shown}</pre>}
      <p className={isRevealed ? "warn" : "dim"}>{isRevealed ? "It holds secrets." : "Aliases such as session#1 stand for secrets."}</p>
    </Dialog>
  )
}
