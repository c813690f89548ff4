import { useCallback, useEffect, useState } from "react"
import { Countdown } from "../pending/Countdown"
import { Details } from "../pending/Details"
import { usePermission } from "../pending/notify"
import { Outcome, type Settled } from "../pending/Outcome"
import { nameOf } from "../pending/Question"
import { usePending } from "../pending/store"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { go, link, type Route } from "../route"
import type { Transaction } from "../types"

export function Pending({ route }: { route: Route }) {
  const { transactions, at, isKnown, problem } = usePending()
  const id = route.parts[1]
  const [settled, setSettled] = useState<Settled | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const show = useCallback((id: string) => {
    setNext(id)
    go(link("pending", id))
  }, [])
  useEffect(() => {
    if (settled !== null && settled.transaction.id !== id) setSettled(null)
  }, [id, settled])

  if (!isKnown) return problem === null ? <Loading /> : <div className="page"><Fault problem={problem} /></div>
  return (
    <div className={id === undefined ? "page pending" : "page pending with-details"}>
      <section aria-label="Step-ups that wait" className="waiting">
        <div className="bar"><h1 className="grow">Step-ups that wait for a person</h1><Notices /></div>
        {problem !== null && <Fault problem={problem} />}
        {transactions.length === 0 ? <Nothing /> : (
          <ul className="cards">
            {transactions.map((one) => (
              <li key={one.id}><Card transaction={one} at={at} isCurrent={one.id === id} /></li>
            ))}
          </ul>
        )}
      </section>
      {id !== undefined && (
        <section aria-label="Step-up" className="details">
          <p className="back"><a href={link("pending")}>‹ All that wait</a></p>
          {settled !== null && settled.transaction.id === id
            ? <Outcome settled={settled} onNext={show} />
            : <Details key={id} id={id} isNext={id === next} onSettled={setSettled} />}
        </section>
      )}
    </div>
  )
}

function Card({ transaction, at, isCurrent }: { transaction: Transaction; at: number; isCurrent: boolean }) {
  const { id, header, stage, method, resource, client, user, kind, callbacks, left_ms } = transaction
  const asks = kind === "suspended" ? "a link that was sent" : callbacks.map(nameOf).join(", ")
  return (
    <a className="card" href={link("pending", id)} aria-current={isCurrent ? "true" : undefined}>
      <span className="bar">
        <strong className="grow">{header || stage || "AM asks"}</strong>
        <Countdown until={at + left_ms} />
      </span>
      <code>{method} {resource}</code>
      <span className="dim">{user ?? client} · asks for {asks}</span>
    </a>
  )
}

function Nothing() {
  return (
    <Empty title="No step-up waits for a person">
      <p>One comes here when AM asks for something that the configuration has no answer to, and says:</p>
      <Command>{"authorization:\n  answers:\n    - otherwise: ask"}</Command>
      <p>In a terminal, the same list is:</p>
      <Command>usher transactions</Command>
    </Empty>
  )
}

/** Asks for the browser's permission to tell of step-ups while another page is in front. */
function Notices() {
  const [permission, ask] = usePermission()
  if (permission === "default") return <button type="button" onClick={ask}>Notify me</button>
  if (permission === "granted") return <span className="dim">Notifications are on</span>
  return <span className="dim">{permission === "denied" ? "The browser blocks notifications" : ""}</span>
}
