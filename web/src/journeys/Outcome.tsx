import type { Journey } from "../types"
import { outcomeOf } from "./words"

const classes: Record<Journey["outcome"], string> = {
  succeeded: "ok", failed: "bad", running: "warn", suspended: "warn", abandoned: "dim", unknown: "dim",
}

export function Outcome({ journey }: { journey: Journey }) {
  return <span className={classes[journey.outcome]}>{outcomeOf(journey)}</span>
}
