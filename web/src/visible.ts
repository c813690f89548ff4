// A browser allows six connections to an origin over HTTP/1.1, for all tabs together: hidden ones hold no stream.

/** A signal that ends with another one, or as soon as the page is not in this state. */
export function during(state: "visible" | "hidden", signal: AbortSignal): AbortSignal {
  const ended = new AbortController()
  const look = () => {
    if (document.hidden === (state === "hidden") && !signal.aborted) return
    ended.abort()
    document.removeEventListener("visibilitychange", look)
    signal.removeEventListener("abort", look)
  }
  document.addEventListener("visibilitychange", look)
  signal.addEventListener("abort", look)
  look()
  return ended.signal
}

/** Waits until the page is visible, or the signal ends. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  const hidden = during("hidden", signal)
  return new Promise((done) => {
    if (hidden.aborted) done()
    else hidden.addEventListener("abort", () => done(), { once: true })
  })
}
