// The configuration in force, and its reload.
import { useMemo } from "react"
import { useResource } from "../hooks"
import { Code } from "../parts/Code"
import { Copy } from "../parts/Copy"
import { Fault, Loading } from "../parts/Says"
import { Time } from "../parts/Time"
import { Reload } from "./Reload"
import { yaml } from "./yaml"

interface Answer {
  generation: number
  file: string
  loaded: string
  listening: string[]
  configuration: Record<string, unknown>
}

export function Running() {
  const { data, problem, reload } = useResource<Answer>("/v1/configuration")
  const text = useMemo(() => (data === null ? "" : yaml(data.configuration)), [data])
  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  return (
    <>
      <dl className="facts">
        <dt>File</dt><dd><code>{data.file}</code></dd>
        <dt>Generation</dt><dd>{data.generation}, read <Time at={data.loaded} whole /></dd>
        <dt>Listening</dt><dd>{data.listening.join(", ")}</dd>
      </dl>
      <Reload onDone={reload} />
      <p className="bar dim">
        <span className="grow">
          With all defaults. <code>REDACTED</code> replaces possible secrets. Ctrl-F searches; a click in the gutter folds.
        </span>
        <Copy text={text} />
      </p>
      <Code value={text} language="yaml" label="The configuration in force" />
    </>
  )
}
