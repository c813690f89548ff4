// One step-up: who wants what, what AM asks in its own words, and the form to answer it.
import { useMemo, useState, type FormEvent } from "react"
import { get, post, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Copy } from "../parts/Copy"
import { Dialog } from "../parts/Dialog"
import { Linked } from "../parts/Linked"
import { QRCode } from "../parts/QRCode"
import { Empty, Fault, Loading } from "../parts/Says"
import { link } from "../route"
import type { Flow, Transaction } from "../types"
import { Countdown, TimeBar } from "./Countdown"
import type { Settled } from "./Outcome"
import { Question, type Answer } from "./Question"
import { forget, usePending } from "./store"

interface DetailsProps {
  id: string
  /** True if the page before it was answered here just now. */
  isNext: boolean
  onSettled(settled: Settled): void
}

export function Details({ id, isNext, onSettled }: DetailsProps) {
  const { data, problem, reload } = useResource<Transaction>(`/v1/transactions/${encodeURIComponent(id)}`)
  // the time left counts from the moment when the answer came
  const until = useMemo(() => performance.now() + (data?.left_ms ?? 0), [data])
  const { transactions } = usePending()
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isDenying, setDenying] = useState(false)

  if (data === null) {
    if (problem === null) return <Loading />
    if (problem.status === 404 || problem.status === 409 || problem.status === 410) {
      return (
        <Empty title="This step-up waits no longer">
          <p>{problem.detail}</p><p><a href={link("pending")}>All that wait</a></p>
        </Empty>
      )
    }
    return <Fault problem={problem} retry={reload} />
  }

  const settle = async (how: Settled["how"], send: () => Promise<{ state: string }>) => {
    setBusy(true)
    setRefusal(null)
    try {
      const newest = await get<{ flows: Flow[] }>("/v1/flows?limit=1").catch(() => ({ flows: [] }))
      const { state } = await send()
      if (state === "open") return reload()
      forget(id)
      onSettled({
        how, transaction: data, after: newest.flows[0]?.sequence ?? 0,
        known: new Set(transactions.map((one) => one.id)),
      })
    } catch (error) {
      setRefusal(asProblem(error))
    } finally {
      setBusy(false)
      setDenying(false)
    }
  }
  const path = `/v1/transactions/${encodeURIComponent(id)}`
  const answer = (body: { answers: Answer[] } | { link: string }) =>
    void settle("answered", () => post(`${path}/answer`, body))
  const deny = (
    <button type="button" className="danger" disabled={isBusy} onClick={() => setDenying(true)}>Deny…</button>
  )

  return (
    <article className="panel stepup" aria-labelledby="stepup-title">
      {isNext && <p className="note" role="status">AM asks more: this is its next page.</p>}
      <header>
        <h1 id="stepup-title">{data.header || data.stage || "AM asks"}</h1>
        <span className="left"><Countdown until={until} /> <span className="dim">left</span></span>
      </header>
      <TimeBar until={until} whole={data.waited_ms + data.left_ms} />
      <Wish transaction={data} />
      <Words transaction={data} />
      {data.kind === "suspended"
        ? <Suspended problem={refusal} isBusy={isBusy} onLink={(link) => answer({ link })}>{deny}</Suspended>
        : (
          <Question transaction={data} problem={refusal} isBusy={isBusy} onAnswer={(answers) => answer({ answers })}>
            {deny}
          </Question>
        )}
      {isDenying && (
        <Dialog title="Deny this step-up?" onClose={() => setDenying(false)} footer={
          <>
            <button type="button" onClick={() => setDenying(false)}>Keep waiting</button>
            <button type="button" className="danger" disabled={isBusy} autoFocus
              onClick={() => void settle("denied", () => post(`${path}/deny`))}>Deny</button>
          </>
        }>
          <p>The app gets the resource's original response to <code>{data.method} {data.resource}</code>.</p>
        </Dialog>
      )}
    </article>
  )
}

/** Who wants what. */
function Wish({ transaction }: { transaction: Transaction }) {
  const { client, user, session, method, resource, am, realm, tree, stage } = transaction
  return (
    <dl className="facts">
      <dt>Request</dt><dd><code>{method} {resource}</code></dd>
      <dt>From</dt><dd>{client}{user !== null && <> as <strong>{user}</strong></>}
        {session !== null && <> in test session <a href={link("sessions", session)}>{session}</a></>}</dd>
      <dt>AM</dt><dd>{am}, realm {realm}{tree !== null && <>, tree {tree}</>}{stage !== "" && <>, stage {stage}</>}</dd>
    </dl>
  )
}

/** An address that an authenticator app reads from a QR code. */
const device = /^(?:otpauth|pushauth|mfauth):\/\/\S+$/

/** What AM says, in its own words. */
function Words({ transaction }: { transaction: Transaction }) {
  const texts = [...transaction.messages, ...(transaction.message ? [transaction.message] : [])]
  return (
    <>
      {texts.map((text, place) => (device.test(text)
        ? <DeviceCode key={place} text={text} /> : <p key={place} className="words"><Linked text={text} /></p>))}
      {transaction.shortened && <p className="dim">AM says more than is shown here.</p>}
    </>
  )
}

function DeviceCode({ text }: { text: string }) {
  return (
    <div className="bar">
      <QRCode text={text} label="QR code for an authenticator app" />
      <Copy text={text} label="Copy its address" />
    </div>
  )
}

interface SuspendedProps {
  problem: Problem | null
  isBusy: boolean
  onLink(link: string): void
  children: JSX.Element
}

/** The tree goes on by a link that AM sent to the user. */
function Suspended({ problem, isBusy, onLink, children }: SuspendedProps) {
  const [value, setValue] = useState("")
  const send = (event: FormEvent) => {
    event.preventDefault()
    onLink(value.trim())
  }
  return (
    <form className="question" onSubmit={send}>
      {problem && <Fault problem={problem} />}
      <div className="field">
        <label htmlFor="link">The link that AM sent to the user</label>
        <input id="link" type="url" inputMode="url" required autoFocus value={value} autoComplete="off"
          placeholder="https://" onChange={(event) => setValue(event.target.value)} />
      </div>
      <div className="answers">
        <button type="submit" className="primary" disabled={isBusy}>Continue</button>{children}
      </div>
    </form>
  )
}
