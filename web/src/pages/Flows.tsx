import type { Route } from "../route"

export function Flows(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
