import { useCallback, useEffect, useRef, useState } from "react"
import { get, Problem } from "./api"

export interface Resource<T> {
  /** The newest answer; it stays while it is asked for again. */
  data: T | null
  problem: Problem | null
  loading: boolean
  reload(): void
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, "The page failed", String(error))
}

/**
 * What the daemon answers to GET; null asks for nothing.
 * @param every asks again after so many milliseconds, while the page is visible.
 */
export function useResource<T>(path: string | null, { every }: { every?: number } = {}): Resource<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; problem: Problem | null; loading: boolean }>(
    { path, data: null, problem: null, loading: path !== null })
  const [turn, setTurn] = useState(0)

  useEffect(() => {
    if (path === null) return
    const ended = new AbortController()
    let timer = 0
    const load = async () => {
      if (every === undefined || !document.hidden) {
        try {
          const data = await get<T>(path, ended.signal)
          if (ended.signal.aborted) return
          setState({ path, data, problem: null, loading: false })
        } catch (error) {
          if (ended.signal.aborted) return
          setState((old) => ({
            path, data: old.path === path ? old.data : null, problem: asProblem(error), loading: false,
          }))
        }
      }
      if (every !== undefined) timer = window.setTimeout(load, every)
    }
    void load()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [path, every, turn])

  const reload = useCallback(() => setTurn((turn) => turn + 1), [])
  // another path's answer is none of this one's
  const isCurrent = state.path === path
  return {
    data: isCurrent ? state.data : null, problem: isCurrent ? state.problem : null,
    loading: isCurrent ? state.loading : path !== null, reload,
  }
}

/** Calls back for keys that are pressed outside of fields and dialogs, as "j" or "Escape". */
export function useKeys(onKey: (key: string, event: KeyboardEvent) => boolean | void): void {
  const newest = useRef(onKey)
  newest.current = onKey
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const target = event.target as HTMLElement
      if (target.closest("input, textarea, select, .CodeMirror") || document.querySelector("dialog[open]")) return
      if (newest.current(event.key, event) === true) event.preventDefault()
    }
    document.addEventListener("keydown", pressed)
    return () => document.removeEventListener("keydown", pressed)
  }, [])
}
