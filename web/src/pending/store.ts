// The step-ups that wait for a person: one stream for all parts of the page that show them.
import { useSyncExternalStore } from "react"
import { get, type Problem } from "../api"
import { follow } from "../follow"
import { asProblem } from "../hooks"
import type { Transaction } from "../types"

export interface Pending {
  transactions: Transaction[]
  /** When the list came, by `performance.now()`: the times left count from then. */
  at: number
  /** False until the first list is there. */
  isKnown: boolean
  problem: Problem | null
}

/** The time between two questions to a daemon that has no stream, in milliseconds. */
const rest = 2000

let state: Pending = { transactions: [], at: 0, isKnown: false, problem: null }
const watchers = new Set<() => void>()
let running: AbortController | null = null

function change(next: Partial<Pending>): void {
  state = { ...state, ...next }
  for (const watcher of watchers) watcher()
}

function took(data: unknown): void {
  const { transactions } = data as { transactions: Transaction[] }
  change({ transactions, at: performance.now(), isKnown: true, problem: null })
}

async function poll(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      took(await get("/v1/transactions", signal))
    } catch (error) {
      if (signal.aborted) return
      change({ problem: asProblem(error) })
    }
    await new Promise((done) => setTimeout(done, rest))
  }
}

async function run(signal: AbortSignal): Promise<void> {
  let isMissing = false
  await follow("/v1/transactions/stream", {
    onEvent: (_, data) => took(data),
    onState: (_, problem) => {
      if (signal.aborted) return
      if (problem?.status === 404) isMissing = true
      else if (problem !== null) change({ problem })
    },
  }, signal)
  // an older daemon takes "stream" for the id of a step-up
  if (isMissing) await poll(signal)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  if (running === null) {
    running = new AbortController()
    void run(running.signal)
  }
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    running?.abort()
    running = null
  }
}

export const usePending = (): Pending => useSyncExternalStore(watch, () => state)

/** Takes a step-up from the list at once, because it was answered here. */
export function forget(id: string): void {
  change({ transactions: state.transactions.filter((one) => one.id !== id) })
}
