import type { Route } from "../route"

export function Sessions(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
