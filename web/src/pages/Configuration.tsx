import type { Route } from "../route"

export function Configuration(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
