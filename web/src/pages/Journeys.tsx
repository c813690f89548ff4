import type { Route } from "../route"

export function Journeys(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
