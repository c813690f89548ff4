// What a journey says in words, with and without what differs from run to run.
import { duration } from "../parts/Time"
import type { Journey, JourneyDetail } from "../types"

export type Step = JourneyDetail["steps"][number]
export type Call = JourneyDetail["calls"][number]

/** `/alpha Login`; a login for an advice has its type, for its "tree" is the advice itself. */
export const placeOf = ({ realm, tree, type }: Journey): string =>
  [realm, type === null || type === "service" ? tree : type].filter(Boolean).join(" ")

export const outcomeOf = (journey: Journey): string =>
  journey.outcome + (journey.reason === null ? "" : `: ${journey.reason}`) + (journey.ended_by === null ? "" : ", signed out")

export const whoOf = (journey: Journey): string =>
  [journey.login ?? journey.user ?? "", journey.by === "usher" ? "(Usher)" : ""].filter(Boolean).join(" ")

/** How a step ended, beyond its status. */
export function endingOf(step: Step): string | null {
  switch (step.ending) {
    case "succeeds": return "signed in"
    case "suspends": return "continues with a mailed link"
    case "unread": return "too little of the response is stored (journal.bodies)"
    case "asks": return null
    default: return step.reason ?? "refused"
  }
}

const callback = (one: Step["callbacks"][number]): string =>
  one.type + (one.prompt === "" ? "" : ` “${one.prompt}”`) + (one.answer === null ? "" : `: ${one.answer}`)

/** Steps and calls in the order of time; simultaneous ones keep theirs. */
export function timeline(detail: JourneyDetail): ({ step: Step } | { call: Call })[] {
  const all = [
    ...detail.steps.map((step) => ({ step, at: step.at_ms })), ...detail.calls.map((call) => ({ call, at: call.at_ms })),
  ]
  return all.sort((one, other) => one.at - other.at)
}

/** A journey as lines to compare: without times, counts and ids, and with aliases numbered by their order. */
export function steadyLines(detail: JourneyDetail): string[] {
  const { journey } = detail
  const lines = [`${placeOf(journey)}${journey.login === null ? "" : ` as ${journey.login}`} → ${outcomeOf(journey)}`]
  if (journey.by === "usher") lines.push("run by Usher")
  if (detail.from !== null) lines.push(`started with ${detail.from.session}`)
  for (const one of timeline(detail)) {
    if ("step" in one) {
      const { step } = one
      const words = [step.status ?? "no response", step.repeated ? "sent again" : null, endingOf(step),
        step.stage === null ? null : `stage “${step.stage}”`, step.header === null ? null : `“${step.header}”`]
      lines.push(`${step.action ?? ""} → ${words.filter((word) => word !== null).join(", ")}`)
      lines.push(...step.callbacks.map((one) => `  ${callback(one)}`))
    } else {
      const { call } = one
      const words = [call.status ?? "no response", call.error, call.with === null ? null : `with ${call.with}`,
        call.won.length === 0 ? null : `won ${call.won.join(", ")}`]
      lines.push(`${call.action ?? ""} → ${words.filter((word) => word !== null).join(", ")}`)
    }
  }
  if (detail.tokens.length > 0) lines.push("Won", ...detail.tokens.map((token) => `  ${token.kind} ${token.alias}`))
  if (detail.resources.length > 0) {
    lines.push("Reached", ...detail.resources.map((resource) =>
      `  ${resource.origin}: ${[...new Set(resource.statuses.map((one) => one.status ?? "no response"))].sort().join(", ")}`))
  }
  const numbers = new Map<string, string>()
  const counts = new Map<string, number>()
  return lines.map((line) => line.replace(/\b([A-Za-z]\w*)#\d+/g, (alias, kind: string) => {
    let steady = numbers.get(alias)
    if (steady === undefined) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      numbers.set(alias, (steady = `${kind}#${counts.get(kind)}`))
    }
    return steady
  }))
}

export const spent = (journey: Journey): string =>
  `${duration(journey.duration_ms)}: ${duration(journey.am_ms)} at AM, ${duration(journey.app_ms)} between the calls`
