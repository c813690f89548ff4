import { Explain } from "../configuration/Explain"
import { Running } from "../configuration/Running"
import { Tabs } from "../parts/Tabs"
import type { Route } from "../route"

export function Configuration({ route }: { route: Route }) {
  return (
    <div className="page">
      <h1>Configuration</h1>
      <Tabs name="Configuration" first={route.parts[1]} tabs={[
        { id: "running", label: "In force", content: () => <Running /> },
        { id: "explain", label: "Explain a request", content: () => <Explain /> },
      ]} />
    </div>
  )
}
