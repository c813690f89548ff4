import { get, query, type Problem } from "../api"
import { follow, pause, type StreamState } from "../follow"
import { asProblem } from "../hooks"
import type { Flow } from "../types"
import { during, untilVisible } from "../visible"
import { FlowRing } from "./FlowRing"
import { slim } from "./slim"

interface Page { flows: Flow[]; next: number | null }

const capacity = 100_000
const pageSize = 300
/** So many new flows are kept while nobody follows; they push out as many of the oldest. */
const mostHeld = 20_000
/** So many flows at a time, and so many times, are asked for when a tab comes to the front; beyond, the list begins anew. */
const largest = 1000
const mostPages = mostHeld / largest
/** Between two repaints: more often nobody reads, and at thousands of flows a second each costs. */
const repaint = 50

/** The flows of one filter: those that were there, then those that come. It tells when there is something to show. */
export class FlowFeed {
  readonly ring = new FlowRing(capacity)
  /** False: newer flows are kept, and not shown yet. */
  following = true
  /** The number of flows that are kept and not shown. */
  held = 0
  /** The number of flows that the daemon dropped for this page. */
  lost = 0
  state: StreamState = "connecting"
  problem: Problem | null = null
  isLoading = true
  /** Counts the changes. */
  version = 0

  /** The sequence number of the newest flow that came. */
  private newest = 0
  /** Where older flows begin; null if there are none. */
  private older: number | null = null
  private ended = new AbortController()
  /** Ends the stream alone. */
  private stream = new AbortController()
  private painted = 0
  private isScheduled = false
  private readonly watchers = new Set<() => void>()

  constructor(private readonly filter: string) {}

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  start(): void {
    this.ended = new AbortController()
    this.stream = new AbortController()
    this.clear()
    this.newest = 0
    this.isLoading = true
    void this.run(this.ended.signal)
  }

  end(): void {
    this.ended.abort()
    this.stream.abort()
  }

  /** The number of rows to show. */
  get rows(): number {
    return Math.max(0, this.ring.count - this.held)
  }

  /** The flow of a row, the newest first. */
  row(row: number): Flow | undefined {
    return this.ring.at(this.indexOfRow(row))
  }

  indexOfRow(row: number): number {
    return this.ring.end - 1 - this.held - row
  }

  rowOfIndex(index: number): number {
    return this.ring.end - 1 - this.held - index
  }

  setFollowing(following: boolean): void {
    if (this.following === following) return
    this.following = following
    const isFull = this.isHeldFull
    if (following) this.held = 0
    this.changed(true)
    if (!following || !isFull) return
    // what came since is asked for anew
    this.restart()
  }

  /** Whether more came than is kept for a page that does not follow. */
  get isHeldFull(): boolean {
    return this.held >= mostHeld
  }

  clear(): void {
    this.ring.clear()
    this.held = 0
    this.lost = 0
    this.older = null
    this.changed(true)
  }

  get hasOlder(): boolean {
    return this.older !== null && !this.ring.isFull
  }

  async loadOlder(): Promise<void> {
    if (this.isLoading || !this.hasOlder) return
    this.isLoading = true
    this.changed(true)
    await this.load(this.older)
    this.changed(true)
  }

  private async run(ended: AbortSignal): Promise<void> {
    await this.load(null)
    // a daemon that restarts comes back; what is wrong with the request stays wrong
    while (!ended.aborted && this.problem !== null && (this.problem.status === 0 || this.problem.status >= 500)) {
      this.state = "waiting"
      this.changed(true)
      await pause(2000, ended)
      await this.load(null)
    }
    if (ended.aborted) return
    this.changed(true)
    if (this.problem !== null) return
    await this.live(this.stream.signal)
  }

  /** Follows for as long as the page is visible, and goes on where it was. */
  private async live(ended: AbortSignal): Promise<void> {
    for (let isFirst = true; !ended.aborted; isFirst = false) {
      await untilVisible(ended)
      const visible = during("visible", ended)
      if (!isFirst && !(await this.catchUp(visible))) {
        if (ended.aborted) return
        if (!visible.aborted) return this.restart()
        continue
      }
      const refusal = await follow(`/v1/flows/stream${query({ q: this.filter, after: this.newest })}`, {
        onEvent: (name, data) => this.take(name, data),
        onState: (state, problem) => {
          this.state = state
          this.problem = problem
          this.changed(true)
        },
      }, visible)
      if (refusal !== null) return
    }
  }

  /** Takes what came while the page was hidden, which is more than a stream begins with; false if it is too much. */
  private async catchUp(visible: AbortSignal): Promise<boolean> {
    let after: number | null = this.newest
    for (let count = 0; count < mostPages && !this.stream.signal.aborted; count += 1) {
      try {
        const page: Page = await get<Page>(`/v1/flows${query({ q: this.filter, limit: largest, after })}`, visible)
        for (const flow of page.flows) this.take("flow", flow)
        after = page.next
      } catch {
        // following tells what is wrong
        return !visible.aborted
      }
      if (after === null) return true
    }
    return false
  }

  private restart(): void {
    this.end()
    this.start()
  }

  private async load(before: number | null): Promise<void> {
    const ended = this.ended.signal
    try {
      const path = `/v1/flows${query({ q: this.filter, limit: pageSize, before })}`
      const page = await get<Page>(path, ended)
      this.newest = Math.max(this.newest, page.flows[0]?.sequence ?? 0)
      this.ring.addOlder(page.flows.map(slim))
      this.older = page.next
      this.problem = null
    } catch (error) {
      if (ended.aborted) return
      this.problem = asProblem(error)
    }
    this.isLoading = false
  }

  private take(name: string, data: unknown): void {
    if (name === "flow") {
      if (this.isHeldFull) return
      const flow = data as Flow
      this.newest = flow.sequence
      this.ring.push(slim(flow))
      if (!this.following) this.held = Math.min(this.held + 1, this.ring.count)
      if (this.isHeldFull) this.stream.abort()
    } else if (name === "lost") {
      this.lost += (data as { count: number }).count
    }
    this.changed(false)
  }

  private changed(now: boolean): void {
    if (now) return this.paint()
    if (this.isScheduled) return
    this.isScheduled = true
    const wait = this.painted + repaint - performance.now()
    const next = () => requestAnimationFrame(() => this.paint())
    if (wait > 0) setTimeout(next, wait)
    else next()
  }

  private paint(): void {
    this.isScheduled = false
    if (this.ended.signal.aborted) return
    this.painted = performance.now()
    this.version += 1
    for (const watcher of this.watchers) watcher()
  }
}
