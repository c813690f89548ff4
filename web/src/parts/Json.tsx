import { useState } from "react"

const brief = 100

/** A value of JSON as a tree that opens and closes. */
export function Json({ value, depth = 0, name }: { value: unknown; depth?: number; name?: string }) {
  const isList = Array.isArray(value)
  if (value === null || typeof value !== "object") {
    return <div className="json-leaf"><Name name={name} /><Leaf value={value} /></div>
  }
  const members: [string, unknown][] = isList
    ? value.map((inner, index) => [String(index), inner]) : Object.entries(value)
  if (members.length === 0) return <div className="json-leaf"><Name name={name} />{isList ? "[]" : "{}"}</div>
  return <Branch name={name} members={members} isList={isList} depth={depth} />
}

interface BranchProps { name: string | undefined; members: [string, unknown][]; isList: boolean; depth: number }

function Branch({ name, members, isList, depth }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < 3)
  const [shown, setShown] = useState(brief)
  return (
    <details className="json" open={isOpen} onToggle={(event) => setOpen((event.target as HTMLDetailsElement).open)}>
      <summary><Name name={name} /><span className="dim">{isList ? `[${members.length}]` : `{${members.length}}`}</span></summary>
      {isOpen && members.slice(0, shown).map(([key, inner]) => (
        <Json key={key} name={key} value={inner} depth={depth + 1} />
      ))}
      {isOpen && members.length > shown && (
        <button type="button" onClick={() => setShown(shown + 1000)}>{members.length - shown} more</button>
      )}
    </details>
  )
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span className="json-name">{name}: </span>
}

function Leaf({ value }: { value: unknown }) {
  const kind = value === null ? "null" : typeof value
  return <span className={`json-${kind}`}>{typeof value === "string" ? JSON.stringify(value) : String(value)}</span>
}
