import { useState } from "react"
import { query, text } from "../api"
import { asProblem } from "../hooks"
import { Copy } from "../parts/Copy"
import { Dialog } from "../parts/Dialog"

const forms: [string, string][] = [
  ["curl", "curl"], ["http", "HTTP"], ["har", "HAR"], ["test", "A case of usher test"], ["rule", "An interceptor"],
]

const pathOf = (id: string, form: string) => form === "har"
  ? `/v1/flows.har${query({ filter: `flow=${id}` })}` : `/v1/flows/${encodeURIComponent(id)}/copy?as=${form}`

/** A flow in the forms that other tools take, to look at and to copy. */
export function CopyDialog({ id, onClose }: { id: string; onClose(): void }) {
  const [form, setForm] = useState<string | null>(null)
  const [shown, setShown] = useState("")
  const choose = async (form: string) => {
    setForm(form)
    setShown("…")
    try {
      setShown(await text(pathOf(id, form)))
    } catch (error) {
      setShown(asProblem(error).message)
    }
  }
  return (
    <Dialog
      title="Copy as" onClose={onClose} wide
      footer={<>{form !== null && <Copy text={shown} />}<button type="button" onClick={onClose}>Close</button></>}
    >
      <div className="bar">
        {forms.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={form === name} onClick={() => void choose(name)}>{title}</button>
        ))}
      </div>
      {form !== null && <pre className="head shown" tabIndex={0}>{shown}</pre>}
      <p className="dim">Aliases such as session#1 stand for secrets.</p>
    </Dialog>
  )
}
