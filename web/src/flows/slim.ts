import type { Flow } from "../types"

/** The list holds many flows: more of a text is in the flow itself. */
const most = 500

/** A copy of a text's beginning. Engines let a plain slice hold the whole text. */
const beginning = (text: string): string => JSON.parse(JSON.stringify(`${text.slice(0, most)}…`)) as string

/** A flow whose texts have a limit. */
export function slim(flow: Flow): Flow {
  const isLong = (value: unknown): value is string => typeof value === "string" && value.length > most
  if (!Object.values(flow).some(isLong)) return flow
  return Object.fromEntries(Object.entries(flow).map(([key, value]) => [key, isLong(value) ? beginning(value) : value])) as unknown as Flow
}
