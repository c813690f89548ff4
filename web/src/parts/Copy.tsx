import { useEffect, useState } from "react"

/** A button that copies a text; one that has to be fetched first is a function. */
export function Copy({ text, label = "Copy" }: { text: string | (() => Promise<string>); label?: string }) {
  const [said, setSaid] = useState("")
  useEffect(() => {
    if (said === "") return
    const timer = setTimeout(() => setSaid(""), 1500)
    return () => clearTimeout(timer)
  }, [said])

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text())
      setSaid("Copied")
    } catch {
      setSaid("Could not copy")
    }
  }
  return <button type="button" onClick={copy}>{label}<span role="status" className="said">{said}</span></button>
}
