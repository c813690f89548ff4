import { useResource } from "../hooks"
import { usePending } from "../pending/store"
import { link } from "../route"

const entries = [
  ["flows", "Flows"], ["journeys", "Journeys"], ["pending", "Pending"], ["sessions", "Test sessions"],
  ["overview", "Overview"], ["configuration", "Configuration"],
] as const

/** The pages, with how much waits in two of them. */
export function Nav({ current }: { current: string }) {
  const pending = usePending()
  const sessions = useResource<{ sessions: unknown[] }>("/v1/sessions", { every: 5000 })
  const counts: Record<string, number | undefined> = {
    pending: pending.transactions.length, sessions: sessions.data?.sessions.length,
  }
  return (
    <nav className="nav" aria-label="Pages">
      <span className="brand" aria-hidden="true">Usher</span>
      {entries.map(([id, label]) => (
        <a key={id} href={link(id)} aria-current={id === current ? "page" : undefined}>
          {label}
          {counts[id] ? <span className={id === "pending" ? "count urgent" : "count"}>{counts[id]}</span> : null}
        </a>
      ))}
    </nav>
  )
}
