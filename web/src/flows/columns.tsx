import type { ReactNode } from "react"
import { Label, Status } from "../parts/Label"
import { clockTime, duration, size } from "../parts/Time"
import type { Flow } from "../types"

export interface Column {
  id: string
  title: string
  /** As `grid-template-columns` has it. */
  width: string
  isNumber?: boolean
  show(flow: Flow): ReactNode
}

const markNames: Record<Flow["marks"][number], string> = {
  request_changed: "request changed", response_changed: "response changed", step_up: "step-up", fault: "fault",
  slowed: "slowed", local: "by Usher", incomplete: "incomplete", tunnel: "tunnel", call: "Usher's call",
  attempt: "earlier attempt",
}

/** The marks of a flow as words; in a list, shorter ones. */
export function Marks({ flow, isShort = false }: { flow: Flow; isShort?: boolean }) {
  const name = (mark: Flow["marks"][number]) =>
    isShort ? markNames[mark].replace(/^(\w+) changed$/, "✎ $1") : markNames[mark]
  return <>{flow.marks.map((mark) => <span key={mark} className="tag" title={markNames[mark]}>{name(mark)}</span>)}</>
}

/** `https://am.example.com/am?x=1` → its parts, without a parser: there are many of them. */
function split(url: string): [string, string] {
  const host = url.indexOf("://")
  const path = host < 0 ? -1 : url.indexOf("/", host + 3)
  return path < 0 ? [url, ""] : [url.slice(host + 3, path), url.slice(path)]
}

export const columns: Column[] = [
  { id: "time", title: "Time", width: "104px", show: (flow) => <time dateTime={flow.began} title={flow.began}>{clockTime(flow.began)}</time> },
  { id: "id", title: "Flow", width: "112px", show: (flow) => flow.id },
  { id: "status", title: "Status", width: "64px", show: (flow) => <Status status={flow.status} error={flow.error && "error"} /> },
  { id: "method", title: "Method", width: "84px", show: (flow) => flow.method },
  { id: "action", title: "Action", width: "168px", show: (flow) => <Label action={flow.action} /> },
  {
    id: "url", title: "Where", width: "minmax(220px, 1fr)",
    show: (flow) => {
      const [host, path] = split(flow.url)
      return <span title={flow.url}><span className="dim">{host}</span>{path}</span>
    },
  },
  { id: "path", title: "Path", width: "minmax(120px, 1fr)", show: (flow) => <span title={flow.url}>{split(flow.url)[1] || flow.url}</span> },
  { id: "duration", title: "Took", width: "80px", isNumber: true, show: (flow) => duration(flow.duration_ms) },
  { id: "sent", title: "Sent", width: "74px", isNumber: true, show: (flow) => size(flow.request_bytes) },
  { id: "got", title: "Received", width: "86px", isNumber: true, show: (flow) => size(flow.response_bytes) },
  { id: "marks", title: "Marks", width: "236px", show: (flow) => <Marks flow={flow} isShort /> },
  {
    id: "interceptors", title: "Interceptors", width: "160px",
    show: (flow) => flow.interceptors.map((one) => one.name).join(", "),
  },
  { id: "client", title: "Client", width: "130px", show: (flow) => flow.client },
  { id: "user", title: "User", width: "100px", show: (flow) => flow.user },
  { id: "session", title: "Test session", width: "100px", show: (flow) => flow.session },
  { id: "realm", title: "Realm", width: "90px", show: (flow) => flow.realm },
  { id: "tree", title: "Tree", width: "110px", show: (flow) => flow.tree },
  { id: "content_type", title: "Content type", width: "140px", show: (flow) => flow.content_type },
  { id: "attempts", title: "Attempts", width: "70px", isNumber: true, show: (flow) => flow.attempts },
]

const usual = ["time", "status", "method", "action", "url", "duration", "got", "marks"]
/** Beside an open flow, and on a phone. */
export const brief = ["status", "action", "path"]

const place = "usher.columns"

export function chosenColumns(): string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(place) ?? "null")
    if (Array.isArray(kept) && kept.some((id) => columns.some((column) => column.id === id))) return kept
  } catch {
    // what another version left there
  }
  return usual
}

export function keepColumns(ids: string[] | null): string[] {
  if (ids === null) localStorage.removeItem(place)
  else localStorage.setItem(place, JSON.stringify(ids))
  return chosenColumns()
}
