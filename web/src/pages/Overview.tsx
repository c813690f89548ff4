import { useResource } from "../hooks"
import { Parts, Summary, type Status } from "../overview/State"
import { Traffic } from "../overview/Traffic"
import { Fault } from "../parts/Says"

export function Overview() {
  const { data, problem, reload } = useResource<Status>("/v1/status", { every: 2000 })
  return (
    <div className="page">
      <h1 className="hidden">Overview</h1>
      {problem && <Fault problem={problem} retry={reload} />}
      {data !== null && <Summary status={data} />}
      <Traffic />
      {data !== null && <Parts status={data} />}
    </div>
  )
}
