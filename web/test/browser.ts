// As much of a browser as the page's modules touch. A test imports it before them.

/** A page that can be put into the background. */
class Page extends EventTarget {
  hidden = false
  title = "Usher"

  show(isShown: boolean): void {
    this.hidden = !isShown
    this.dispatchEvent(new Event("visibilitychange"))
  }
}

class Storage {
  private readonly values = new Map<string, string>()
  getItem = (name: string) => this.values.get(name) ?? null
  setItem = (name: string, value: string) => void this.values.set(name, value)
  removeItem = (name: string) => void this.values.delete(name)
}

export const page = new Page()

type Answer = (path: string, signal: AbortSignal | undefined) => Response
let answer: Answer = () => new Response("", { status: 404 })

/** Answers what the page asks from now on. */
export function serve(next: Answer): void {
  answer = next
}

/** A stream that sends some events and then stays open until it is ended. */
export function stream(signal: AbortSignal | undefined, ...events: string[]): Response {
  return new Response(new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(`${event}\n\n`))
      signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError")))
    },
  }))
}

/** Lets what was begun go on until a condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 500) throw new Error("it does not come to hold")
    await new Promise((done) => setTimeout(done, 10))
  }
}

Object.assign(globalThis, {
  document: page, sessionStorage: new Storage(), location: { origin: "http://127.0.0.1" },
  requestAnimationFrame: (next: () => void) => setTimeout(next, 0),
  fetch: async (path: string, options: RequestInit) => answer(path, options.signal ?? undefined),
})
