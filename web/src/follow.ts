// Reads a stream of server-sent events by fetch: EventSource cannot send a token.
import { ask, Problem } from "./api"

export type StreamState = "connecting" | "open" | "waiting"

export interface Listener {
  /** One event. An id is the place from which the stream continues after a break. */
  onEvent(name: string, data: unknown, id: string | null): void
  onState?(state: StreamState, problem: Problem | null): void
}

/** Splits bytes of a stream into events. */
export class EventReader {
  private rest = ""
  private readonly decoder = new TextDecoder()

  constructor(private readonly onEvent: Listener["onEvent"]) {}

  read(bytes: Uint8Array): void {
    const text = this.rest + this.decoder.decode(bytes, { stream: true })
    let from = 0
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      this.event(text.slice(from, end))
      from = end + 2
    }
    this.rest = text.slice(from)
  }

  private event(block: string): void {
    let name = "message"
    let data = ""
    let id: string | null = null
    for (const line of block.split("\n")) {
      if (line.startsWith("data: ")) data += line.slice(6)
      else if (line.startsWith("event: ")) name = line.slice(7)
      else if (line.startsWith("id: ")) id = line.slice(4)
    }
    if (data !== "") this.onEvent(name, JSON.parse(data), id)
  }
}

const pause = (milliseconds: number, signal: AbortSignal) => new Promise<void>((done) => {
  const timer = setTimeout(done, milliseconds)
  signal.addEventListener("abort", () => { clearTimeout(timer); done() }, { once: true })
})

/** Follows until the signal ends it. After a break it connects again, later each time, and continues where it was. */
export async function follow(path: string, listener: Listener, signal: AbortSignal): Promise<void> {
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
      if (signal.aborted) return
      problem = error instanceof Problem ? error : new Problem(0, "The stream broke off", "")
      // nothing changes by asking again for what is wrong
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
        listener.onState?.("waiting", problem)
        return
      }
    }
    listener.onState?.("waiting", problem)
    await pause(wait, signal)
    wait = Math.min(wait * 2, 10_000)
  }
}
