// Reads a stream of server-sent events by fetch: EventSource cannot send a token.
import { ask, Problem } from "./api"
import { EventReader, type OnEvent } from "./events"

export type StreamState = "connecting" | "open" | "waiting"

export interface Listener {
  /** One event. An id is the place from which the stream continues after a break. */
  onEvent: OnEvent
  onState?(state: StreamState, problem: Problem | null): void
}

/** Waits, unless the signal comes before. */
export const pause = (milliseconds: number, signal: AbortSignal) => new Promise<void>((done) => {
  const over = () => {
    clearTimeout(timer)
    signal.removeEventListener("abort", over)
    done()
  }
  const timer = setTimeout(over, milliseconds)
  signal.addEventListener("abort", over)
  if (signal.aborted) over()
})

/**
 * Follows until the signal ends it. After a break it connects again, later each time, and continues where it was.
 * @returns the refusal that ended it; null if the signal did.
 */
export async function follow(path: string, listener: Listener, signal: AbortSignal): Promise<Problem | null> {
  let wait = 250
  let after: string | null = null
  while (!signal.aborted) {
    let problem: Problem | null = null
    listener.onState?.("connecting", null)
    try {
      const from = new URL(path, location.origin)
      if (after !== null) from.searchParams.set("after", after)
      const answer = await ask(from.pathname + from.search, { signal })
      const reader = new EventReader((name, data, id) => {
        after = id ?? after
        listener.onEvent(name, data, id)
      })
      listener.onState?.("open", null)
      wait = 250
      const body = answer.body!.getReader()
      for (;;) {
        const { done, value } = await body.read()
        if (done) break
        reader.read(value)
      }
    } catch (error) {
      if (signal.aborted) return null
      problem = error instanceof Problem ? error : new Problem(0, "The stream broke off", "")
      // nothing changes by asking again for what is wrong
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
        listener.onState?.("waiting", problem)
        return problem
      }
    }
    listener.onState?.("waiting", problem)
    await pause(wait, signal)
    wait = Math.min(wait * 2, 10_000)
  }
  return null
}
