// What happened after an answer: AM's next page, or how the app's request ended.
import { useEffect } from "react"
import { query } from "../api"
import { useResource } from "../hooks"
import { Status } from "../parts/Label"
import { duration } from "../parts/Time"
import { link } from "../route"
import type { Flow, FlowDetail, Transaction } from "../types"
import { usePending } from "./store"

/** A step-up that was answered or denied here. */
export interface Settled {
  how: "answered" | "denied"
  transaction: Transaction
  /** The sequence number of the newest flow before. */
  after: number
  /** The step-ups that waited before. */
  known: Set<string>
}

const addressOf = (url: string): string => url.split("?")[0] ?? url

function isSameRequest(one: Transaction, other: Transaction): boolean {
  return one.client === other.client && one.user === other.user && one.session === other.session
    && one.method === other.method && one.resource === other.resource && one.am === other.am
}

export function Outcome({ settled, onNext }: { settled: Settled; onNext(id: string): void }) {
  const { how, transaction, after, known } = settled
  const { transactions } = usePending()
  const next = how === "answered"
    ? transactions.find((one) => !known.has(one.id) && isSameRequest(one, transaction)) : undefined
  useEffect(() => {
    if (next !== undefined) onNext(next.id)
  }, [next, onNext])

  const flows = useResource<{ flows: Flow[] }>(
    `/v1/flows${query({ filter: `method=${transaction.method}`, after, limit: 200 })}`, { every: 1000 })
  const flow = flows.data?.flows.find((one) =>
    addressOf(one.url) === addressOf(transaction.resource) && one.session === transaction.session)
  const whole = useResource<FlowDetail>(flow === undefined ? null : `/v1/flows/${flow.id}`)
  const said = how === "answered" ? "Your answer went to AM." : "You denied this step-up."

  return (
    <article className="panel stepup">
      <header><h1>{transaction.header || transaction.stage || "Step-up"}</h1></header>
      <p role="status">
        {said}{" "}
        {flow === undefined ? "Waiting for AM's decision and the end of the request…" : <Ending flow={flow} how={how} />}
      </p>
      <dl className="facts"><dt>Request</dt><dd><code>{transaction.method} {transaction.resource}</code></dd></dl>
      {flow !== undefined && (
        <>
          <p className="bar">
            <Status status={flow.status} error={flow.error} /> after {duration(flow.duration_ms)}
            <a href={link("flows", flow.id)}>Look at the flow</a>
          </p>
          {whole.data !== null && (
            <ol className="story">
              {whole.data.events.map((event, place) => (
                <li key={place}><span className="number dim">{event.at_ms} ms</span> <span>{event.text}</span></li>
              ))}
            </ol>
          )}
        </>
      )}
      <p><a href={link("pending")}>All that wait{transactions.length > 0 ? ` (${transactions.length})` : ""}</a></p>
    </article>
  )
}

function Ending({ flow, how }: { flow: Flow; how: Settled["how"] }) {
  if (how === "denied") return <>The app got the original response.</>
  if (flow.status !== null && flow.status < 400) return <span className="ok">The app got its response.</span>
  return <span className="bad">The app did not get through.</span>
}
