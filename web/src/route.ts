// The address behind `#` says what the page shows: `#/flows/ID?q=status%3D4xx`.
import { useEffect, useState } from "react"

export interface Route {
  /** The parts between slashes, decoded. */
  parts: string[]
  query: URLSearchParams
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function routeOf(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s)
  return { parts: path.split("/").filter((part) => part !== "").map(decoded), query: new URLSearchParams(search) }
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = () => setHash(location.hash)
    window.addEventListener("hashchange", changed)
    return () => window.removeEventListener("hashchange", changed)
  }, [])
  return routeOf(hash)
}

/** `link("flows", id)` → `#/flows/ID` */
export function link(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`
}

export function go(hash: string): void {
  location.hash = hash
}

/** Changes the address without a step in the browser's history, for what changes with each key. */
export function replaceRoute(hash: string): void {
  history.replaceState(null, "", hash)
  window.dispatchEvent(new HashChangeEvent("hashchange"))
}
