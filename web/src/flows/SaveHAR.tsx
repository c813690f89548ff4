import { useState } from "react"
import { get, query } from "../api"
import { asProblem } from "../hooks"

interface Archive { log: { entries: unknown[]; _next?: number } }

/** More would not fit into a browser's memory. */
const mostPages = 20

async function archive(filter: string): Promise<Archive> {
  const whole = await get<Archive>(`/v1/flows.har${query({ q: filter })}`)
  for (let page = 1; page < mostPages && whole.log._next !== undefined; page += 1) {
    const next = await get<Archive>(`/v1/flows.har${query({ q: filter, after: whole.log._next })}`)
    whole.log.entries.push(...next.log.entries)
    whole.log._next = next.log._next
  }
  return whole
}

/** Saves the flows of a filter as an HTTP archive. */
export function SaveHAR({ filter }: { filter: string }) {
  const [said, setSaid] = useState("")
  const save = async () => {
    setSaid("…")
    try {
      const whole = await archive(filter)
      const file = URL.createObjectURL(new Blob([JSON.stringify(whole)], { type: "application/json" }))
      const link = document.createElement("a")
      link.href = file
      link.download = "usher.har"
      link.click()
      URL.revokeObjectURL(file)
      const { entries, _next } = whole.log
      setSaid(_next === undefined ? "" : `only the oldest ${entries.length.toLocaleString()}; a filter names fewer`)
    } catch (error) {
      setSaid(asProblem(error).message)
    }
  }
  return <button type="button" onClick={() => void save()}>Save HAR<span role="status" className="said">{said}</span></button>
}
