import type { Expect, TestType } from '@playwright/test'

import type { Daemon, JourneyQuery, Outcome, Usher } from './index.js'

/** Options for `use` in the configuration of Playwright. */
export interface UsherOptions {
  /** The overlay of each test's session. */
  usherOverlay: string | Record<string, unknown> | undefined
}

export interface UsherWorkerOptions {
  /** The configuration to start a daemon with, unless the environment names one. */
  usherConfig: string | undefined
}

/** The user's `test` with the fixture `usher`, and with contexts that go through its session. */
export function usherTest<T extends {}, W extends {}>(
  base: TestType<T, W>
): TestType<T & UsherOptions & { usher: Usher }, W & UsherWorkerOptions & { usherDaemon: Daemon }>

export interface UsherMatchers {
  /** Waits until the newest login has this outcome. */
  toHaveOutcome(journey: JourneyQuery, outcome: Outcome, options?: { timeout?: number }): Promise<{ pass: boolean; message: () => string }>
}

/** The user's `expect` with `toHaveOutcome`. */
export function usherExpect<M>(base: Expect<M>): Expect<M & UsherMatchers>
export const toHaveOutcome: UsherMatchers['toHaveOutcome']
