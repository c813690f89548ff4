// Who changed which line of a message: the words of the flow's events, matched to lines.
import type { FlowDetail } from "../types"
import type { DiffRow } from "./diff"

export type Side = "request" | "response"

interface Edit {
  by: string
  /** `header`, `cookie`, `query`, `json`, `target`, `status`, `body` */
  place: string
  /** The name of the field, cookie or parameter, lower case. */
  name: string
}

function editOf(by: string, words: string): Edit | null {
  const named = /\b(header|cookie|query|form|JSON) (\S+)/.exec(words)
  if (named !== null) return { by, place: named[1]!.toLowerCase(), name: named[2]!.toLowerCase() }
  if (/\b(URL|host|path|method)\b/.test(words)) return { by, place: "target", name: "" }
  if (/\bstatus\b/.test(words)) return { by, place: "status", name: "" }
  if (/\bbody\b/.test(words)) return { by, place: "body", name: "" }
  return null
}

/** The edits that the events of one side tell of. */
export function editsOf(events: FlowDetail["events"], side: Side): Edit[] {
  const edits: Edit[] = []
  for (const event of events) {
    if (event.interceptor !== undefined && event.phase === side) {
      const words = event.text.slice(event.interceptor.length + 2)
      for (const part of words.split(", ")) {
        const edit = editOf(event.interceptor, part)
        if (edit !== null) edits.push(edit)
      }
    } else if (event.event === "replay" && side === "request") {
      edits.push({ by: "step-up", place: "query", name: "_txid" })
    }
  }
  return edits
}

const fieldName = (line: string) => /^([^:\s]+):/.exec(line)?.[1]?.toLowerCase() ?? null

/**
 * Who changed a row.
 * @param kind where it stands: the first line, a field, or the body.
 */
export function changedBy(row: DiffRow, kind: "first" | "field" | "body", edits: Edit[]): string[] {
  if (row.before === row.after) return []
  const both = `${row.before ?? ""}\n${row.after ?? ""}`
  const field = fieldName(row.after ?? row.before ?? "")
  const fits = (edit: Edit): boolean => {
    switch (kind) {
      case "first":
        return edit.place === "target" || edit.place === "status"
          || (edit.place === "query" && both.toLowerCase().includes(edit.name))
      case "field":
        if (edit.place === "header") return edit.name === field
        if (edit.place === "cookie") return (field === "cookie" || field === "set-cookie") && both.toLowerCase().includes(`${edit.name}=`)
        if (edit.place === "target") return field === "host"
        return (edit.place === "body" || edit.place === "json" || edit.place === "form")
          && (field === "content-length" || field === "content-type")
      case "body":
        return edit.place === "body" || edit.place === "json" || edit.place === "form"
    }
  }
  return [...new Set(edits.filter(fits).map((edit) => edit.by))]
}
