import type { ReactNode } from "react"

const links = /https?:\/\/[^\s<>"']+/g

/** A text of AM's, with its web links to open. Anything else in it stays text. */
export function Linked({ text }: { text: string }) {
  const parts: ReactNode[] = []
  let from = 0
  for (const found of text.matchAll(links)) {
    const start = found.index ?? 0
    parts.push(text.slice(from, start))
    parts.push(<a key={start} href={found[0]} target="_blank" rel="noopener noreferrer">{found[0]}</a>)
    from = start + found[0].length
  }
  return <>{parts}{text.slice(from)}</>
}
