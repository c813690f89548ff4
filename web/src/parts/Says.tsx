import type { ReactNode } from "react"
import type { Problem } from "../api"

/** What stands in place of a list without entries: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return <div className="empty"><h2>{title}</h2>{children}</div>
}

/** A refusal, in the daemon's words. */
export function Fault({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div className="fault" role="alert">
      <p><strong>{problem.title}</strong>{problem.status >= 400 ? ` (${problem.status})` : ""}</p>
      {problem.detail !== "" && <p>{problem.detail}</p>}
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  )
}

/** A command for a terminal. */
export function Command({ children }: { children: string }) {
  return <pre className="command" tabIndex={0}>{children}</pre>
}

export function Loading() {
  return <p className="loading" role="status">Loading…</p>
}
