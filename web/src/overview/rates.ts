// The rates of the last hour, as /v1/rates gives them, and what the charts draw of them.

export interface Rate {
  /** "" for requests without an Action. */
  action: string
  requests: number
  errors: number
  step_ups: number
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

export interface Rates {
  interval_s: number
  points: { at: string; actions: Rate[] }[]
}

export const counted = ["requests", "errors", "step_ups"] as const
export const percentiles = ["p50_ms", "p95_ms", "p99_ms"] as const
export type Measure = (typeof counted)[number] | (typeof percentiles)[number]

export const nameOf = (action: string): string => action || "other requests"

/** One Action over the whole time: sums, and the slowest minute of each percentile. */
export function totals({ points }: Rates): Rate[] {
  const all = new Map<string, Rate>()
  for (const { actions } of points) {
    for (const rate of actions) {
      const sum = all.get(rate.action)
      if (sum === undefined) {
        all.set(rate.action, { ...rate })
        continue
      }
      for (const key of counted) sum[key] += rate[key]
      for (const key of percentiles) sum[key] = greater(sum[key], rate[key])
    }
  }
  return [...all.values()].sort((one, other) => other.requests - one.requests)
}

function greater(one: number | null, other: number | null): number | null {
  return one === null || other === null ? one ?? other : Math.max(one, other)
}

/** A value for each point; a count that is missing is 0, a time is unknown. */
export function series({ points }: Rates, action: string, measure: Measure): (number | null)[] {
  const missing = measure.endsWith("_ms") ? null : 0
  return points.map(({ actions }) => actions.find((rate) => rate.action === action)?.[measure] ?? missing)
}
