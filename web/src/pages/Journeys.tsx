import { Compared } from "../journeys/Compared"
import { Detail } from "../journeys/Detail"
import { List } from "../journeys/List"
import type { Route } from "../route"

export function Journeys({ route }: { route: Route }) {
  const [, one, other] = route.parts
  if (one === undefined) return <List route={route} />
  return other === undefined ? <Detail id={one} /> : <Compared ids={[one, other]} />
}
