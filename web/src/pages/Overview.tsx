import type { Route } from "../route"

export function Overview(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
