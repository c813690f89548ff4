// The step-ups that wait for a person: one stream for all parts of the page that show them.
import { useSyncExternalStore } from "react"
import { get, Problem } from "../api"
import { follow, pause } from "../follow"
import { asProblem } from "../hooks"
import type { Transaction } from "../types"
import { during } from "../visible"

export interface Pending {
  transactions: Transaction[]
  /** When the list came, by `performance.now()`: the times left count from then. */
  at: number
  /** False until the first list is there. */
  isKnown: boolean
  problem: Problem | null
}

/** The time between two questions without a stream, in milliseconds. */
const rest = 3000

let state: Pending = { transactions: [], at: 0, isKnown: false, problem: null }
const watchers = new Set<() => void>()
let running: AbortController | null = null

function change(next: Partial<Pending>): void {
  state = { ...state, ...next }
  for (const watcher of watchers) watcher()
}

/** The list in an answer of the daemon; null if it has none. */
export function listOf(data: unknown): Transaction[] | null {
  const list = (data as { transactions?: unknown } | null)?.transactions
  const isWhole = Array.isArray(list) && list.every((one) => typeof one?.id === "string" && Array.isArray(one.callbacks))
  return isWhole ? list : null
}

function took(data: unknown): void {
  const transactions = listOf(data)
  if (transactions === null) return change({ problem: new Problem(0, "The list of step-ups cannot be read", "Load the page again.") })
  change({ transactions, at: performance.now(), isKnown: true, problem: null })
}

async function ask(signal: AbortSignal): Promise<void> {
  try {
    took(await get("/v1/transactions", signal))
  } catch (error) {
    if (!signal.aborted) change({ problem: asProblem(error) })
  }
}

async function poll(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await ask(signal)
    await pause(rest, signal)
  }
}

/** Asks for lists that the stream had no room for, once at a time. */
function catcher(signal: AbortSignal): () => Promise<void> {
  let isBehind = false
  let isAsking = false
  return async () => {
    isBehind = true
    if (isAsking) return
    isAsking = true
    while (isBehind && !signal.aborted) {
      isBehind = false
      await ask(signal)
      await pause(1000, signal)
    }
    isAsking = false
  }
}

async function run(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // notifications are for a page that is hidden: it asks now and then
    if (document.hidden) {
      await poll(during("hidden", signal))
      continue
    }
    const visible = during("visible", signal)
    const catchUp = catcher(visible)
    const refusal = await follow("/v1/transactions/stream", {
      onEvent: (name, data) => {
        if (name === "transactions") took(data)
        else if (name === "lost") void catchUp()
      },
      onState: (_, problem) => { if (problem !== null && problem.status !== 404) change({ problem }) },
    }, visible)
    // an older daemon takes "stream" for the id of a step-up
    if (refusal?.status === 404) return poll(signal)
    if (refusal !== null) return
  }
}

export function watch(watcher: () => void): () => void {
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

export const pending = (): Pending => state

export const usePending = (): Pending => useSyncExternalStore(watch, pending)

/** Takes a step-up from the list at once, because it was answered here. */
export function forget(id: string): void {
  change({ transactions: state.transactions.filter((one) => one.id !== id) })
}
