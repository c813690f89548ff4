/** The hue of an Action's group; the same Action has the same colour everywhere. */
const groups: [RegExp, number][] = [
  [/^PUSH_/, 330],
  [/JOURNEY_|AUTHENTICATE$|SESSION_LOGIN/, 215],
  [/AUTHORIZE|POLICY/, 275],
  [/REVOKE|LOGOUT|END_SESSION|DELETE_/, 25],
  [/TOKEN/, 150],
  [/INFO|WELL_KNOWN/, 185],
]

export function hue(action: string): number {
  for (const [pattern, hue] of groups) if (pattern.test(action)) return hue
  // an Action of the configuration's own
  let sum = 0
  for (const letter of action) sum = (sum * 31 + letter.charCodeAt(0)) % 360
  return sum
}

const styles = new Map<string, Record<string, string | number>>()

/** The name of an Action, coloured. */
export function Label({ action }: { action: string | null }) {
  if (action === null || action === "") return null
  let style = styles.get(action)
  if (style === undefined) styles.set(action, (style = { "--hue": hue(action) }))
  return <span className="label" style={style}>{action}</span>
}

/** A status of HTTP, coloured by its class; an error in its place. */
export function Status({ status, error }: { status: number | null; error?: string | null }) {
  if (status === null) return <span className="status s5">{error ?? "–"}</span>
  return <span className={`status s${Math.floor(status / 100)}`}>{status}</span>
}
