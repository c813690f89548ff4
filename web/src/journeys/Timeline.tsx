import type { ReactNode } from "react"
import { Label, Status } from "../parts/Label"
import { duration } from "../parts/Time"
import { link } from "../route"
import type { Flow, JourneyDetail } from "../types"
import { Outcome } from "./Outcome"
import { endingOf, placeOf, timeline, whoOf, type Call, type Step } from "./words"

interface TimelineProps {
  detail: JourneyDetail
  /** The flows of its steps and calls, by their ids. */
  flows: Map<string, Flow>
  /** Logins that went on with its session. */
  branches: JourneyDetail[]
}

/** A login in the order of time: what AM asked, who answered what, what it won, and where it branched. */
export function Timeline({ detail, flows, branches }: TimelineProps) {
  const began = Date.parse(detail.journey.began)
  const nodes: { at: number; node: ReactNode }[] = timeline(detail).map((one) => "step" in one
    ? { at: one.step.at_ms, node: <StepNode key={one.step.flow} step={one.step} detail={detail} flow={flows.get(one.step.flow)} /> }
    : { at: one.call.at_ms, node: <CallNode key={one.call.flow} call={one.call} detail={detail} flow={flows.get(one.call.flow)} /> })
  for (const branch of branches) {
    const at = Date.parse(branch.journey.began) - began
    nodes.push({ at, node: <BranchNode key={branch.journey.id} branch={branch} at={at} /> })
  }
  nodes.sort((one, other) => one.at - other.at)
  return <ol className="timeline">{nodes.map((one) => one.node)}</ol>
}

function Node({ at, kind, children }: { at: number; kind: string; children: ReactNode }) {
  return <li className={`node ${kind}`}><span className="node-at">{duration(Math.max(0, at))}</span><div className="node-body">{children}</div></li>
}

/** What Usher did to the flow of a node. */
function Edits({ flow }: { flow: Flow | undefined }) {
  if (flow === undefined || flow.interceptors.length === 0) return null
  return <p className="dim">edited by {flow.interceptors.map((one) => <span key={one.name} className="tag">{one.name}</span>)}</p>
}

/** The tokens that a flow won. */
function Won({ detail, flow }: { detail: JourneyDetail; flow: string }) {
  const won = detail.tokens.filter((token) => token.flow === flow)
  if (won.length === 0) return null
  return <p>won {won.map((token) => <span key={token.alias} className="tag token" title={token.kind}>{token.alias}</span>)}</p>
}

function StepNode({ step, detail, flow }: { step: Step; detail: JourneyDetail; flow: Flow | undefined }) {
  const ending = endingOf(step)
  const who = detail.journey.by === "usher" ? "Usher" : "the app"
  return (
    <Node at={step.at_ms} kind={`ends-${step.ending}`}>
      {step.pause_ms > 0 && <p className="dim">{duration(step.pause_ms)} after the call before it</p>}
      <p>
        <Label action={step.action} /> <Status status={step.status} />{" "}
        <span className="dim">{duration(step.duration_ms)}{step.am_ms < step.duration_ms ? ` (AM ${duration(step.am_ms)})` : ""}</span>{" "}
        {ending !== null && <strong className={step.ending === "succeeds" ? "ok" : step.ending === "suspends" ? "warn" : "bad"}>{ending}</strong>}
        {step.repeated && <span className="tag">sent again</span>}
        {step.attempts > 1 && <span className="tag">after {step.attempts} attempts</span>}{" "}
        <a href={link("flows", step.flow)}>flow {step.flow}</a>
      </p>
      {(step.header !== null || step.stage !== null) && (
        <p>{step.header !== null && <strong>{step.header}</strong>} {step.stage !== null && <span className="dim">stage {step.stage}</span>}</p>
      )}
      {step.callbacks.length > 0 && (
        <table className="callbacks">
          <caption className="hidden">Callbacks</caption>
          <thead><tr><th scope="col">Callback</th><th scope="col">AM asks</th><th scope="col">Answer of {who}</th></tr></thead>
          <tbody>
            {step.callbacks.map((one, index) => (
              <tr key={index}>
                <td className="mono">{one.type}</td>
                <td>{one.prompt}{one.choices.length > 0 && <span className="dim"> ({one.choices.join(", ")})</span>}</td>
                <td>{one.answer === null ? <span className="dim">none</span> : <span className="mono">{one.answer}</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Edits flow={flow} />
      <Won detail={detail} flow={step.flow} />
    </Node>
  )
}

function CallNode({ call, detail, flow }: { call: Call; detail: JourneyDetail; flow: Flow | undefined }) {
  return (
    <Node at={call.at_ms} kind="call">
      <p>
        <Label action={call.action} /> <Status status={call.status} error={call.error} />{" "}
        <span className="dim">{duration(call.duration_ms)}</span>{" "}
        {call.with !== null && <>with <span className="tag token">{call.with}</span></>}{" "}
        <a href={link("flows", call.flow)}>flow {call.flow}</a>
      </p>
      <Edits flow={flow} />
      <Won detail={detail} flow={call.flow} />
    </Node>
  )
}

function BranchNode({ branch, at }: { branch: JourneyDetail; at: number }) {
  const { journey } = branch
  return (
    <Node at={at} kind="branch">
      <p>
        <span className="tag">step-up</span> <strong>{placeOf(journey)}</strong> {whoOf(journey)}{" "}
        <Outcome journey={journey} /> <span className="dim">{duration(journey.duration_ms)}, {journey.steps} steps</span>{" "}
        <a href={link("journeys", journey.id)}>journey {journey.id}</a>
      </p>
      {branch.for !== null && (
        <p className="dim">
          for <span className="mono">{branch.for.method} {branch.for.url}</span> → <Status status={branch.for.status} />{" "}
          <a href={link("flows", branch.for.flow)}>flow {branch.for.flow}</a>
        </p>
      )}
      <ul className="plain-list">
        {branch.steps.map((step) => (
          <li key={step.flow}>
            <Label action={step.action} /> <Status status={step.status} />{" "}
            {step.callbacks.map((one) => one.type).join(", ") || endingOf(step)}
          </li>
        ))}
      </ul>
    </Node>
  )
}
