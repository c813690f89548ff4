import type { Route } from "../route"

export function Pending(_: { route: Route }) {
  return <p>Nothing is here yet.</p>
}
