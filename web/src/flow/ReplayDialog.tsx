import { useState, type FormEvent } from "react"
import { post, query, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Dialog } from "../parts/Dialog"
import { Fault } from "../parts/Says"
import { Status } from "../parts/Label"
import { link } from "../route"
import type { FlowDetail } from "../types"
import { headersOf, withLineEnds } from "./body"

interface Answer { flow: string | null; status: number; of: string }

interface Edits { method?: string; url?: string; headers?: [string, string][]; body?: string }

const written = (request: FlowDetail["request"]) => request.fields.map((field) => `${field.name}: ${field.value}`).join("\n")

/** Sends a flow's request again, as it was or with changes. */
export function ReplayDialog({ detail, onClose }: { detail: FlowDetail; onClose(): void }) {
  const { request, flow } = detail
  const [method, setMethod] = useState(request.method)
  const [url, setURL] = useState(request.url)
  const [headers, setHeaders] = useState(written(request))
  const [body, setBody] = useState(request.body.text ?? "")
  const [force, setForce] = useState(false)
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const pairs = headersOf(headers)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const edits: Edits = {}
    if (method !== request.method) edits.method = method
    if (url !== request.url) edits.url = url
    if (headers !== written(request) && pairs !== null) edits.headers = pairs
    const before = request.body.text ?? ""
    const after = withLineEnds(body, before)
    if (body !== before && after !== before) edits.body = after
    const isEdited = Object.keys(edits).length > 0
    setSending(true)
    setProblem(null)
    setAnswer(null)
    try {
      const path = `/v1/flows/${encodeURIComponent(flow.id)}/replay`
      setAnswer(await (isEdited ? post<Answer>(path, { force, edits }) : post<Answer>(path + query({ force: force || null }))))
    } catch (error) {
      setProblem(asProblem(error))
    }
    setSending(false)
  }
  return (
    <Dialog
      title="Send again" onClose={onClose} wide
      footer={<>
        <button type="button" onClick={onClose}>Close</button>
        <button type="submit" form="replay" className="primary" disabled={isSending || pairs === null}>
          {isSending ? "Sending…" : "Send"}
        </button>
      </>}
    >
      <form id="replay" className="fields" onSubmit={submit}>
        <div className="bar">
          <label className="method">Method<input value={method} onChange={(event) => setMethod(event.target.value)} required pattern="[A-Za-z]+" /></label>
          <label className="grow">URL<input className="mono" value={url} onChange={(event) => setURL(event.target.value)} required /></label>
        </div>
        <label>Fields<textarea rows={8} value={headers} spellCheck={false} aria-invalid={pairs === null} onChange={(event) => setHeaders(event.target.value)} /></label>
        {pairs === null && <p className="bad" role="alert">Each line is NAME: VALUE.</p>}
        <label>Body<textarea rows={6} value={body} spellCheck={false} onChange={(event) => setBody(event.target.value)} /></label>
        <label className="check"><input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} /> Send also values that work once, such as codes</label>
      </form>
      {problem !== null && <Fault problem={problem} />}
      {answer !== null && (
        <p role="status">
          The response is <Status status={answer.status} />
          {answer.flow !== null && <>; <a href={link("flows", answer.flow)} onClick={onClose}>look at flow {answer.flow}</a></>}.
        </p>
      )}
    </Dialog>
  )
}
