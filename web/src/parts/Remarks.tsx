import type { Problem } from "../api"

/** A finding about a configuration, with its place where that is known. */
export interface Remark { message: string; file?: string; line?: number; column?: number }

/** The findings in a refusal. */
export function remarksOf(problem: Problem | null): Remark[] {
  const faults = problem?.members.faults
  return Array.isArray(faults) ? faults as Remark[] : []
}

/** Findings as a list: each with `file:line:column`. */
export function Remarks({ remarks }: { remarks: Remark[] }) {
  if (remarks.length === 0) return null
  return (
    <ul className="remarks">
      {remarks.map(({ message, file, line, column }, place) => (
        <li key={place}>
          {file !== undefined && <code>{file}{line !== undefined && `:${line}:${column ?? 1}`}</code>}{" "}
          <span className={message.startsWith("warning") ? "warn" : "bad"}>{message}</span>
        </li>
      ))}
    </ul>
  )
}
