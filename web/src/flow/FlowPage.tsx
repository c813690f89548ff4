import { useMemo, useState } from "react"
import { query } from "../api"
import { Marks } from "../flows/columns"
import { useResource } from "../hooks"
import { Boundary } from "../parts/Boundary"
import { Label, Status } from "../parts/Label"
import { Fault, Loading } from "../parts/Says"
import { Tabs, type Tab } from "../parts/Tabs"
import { Time, duration, size } from "../parts/Time"
import { link } from "../route"
import type { FlowDetail } from "../types"
import { cookiesOf, formOf, queryOf, sameBody } from "./body"
import { CopyDialog } from "./CopyMenu"
import { decodedOf } from "./decode"
import { MessageDiff } from "./HeadDiff"
import { BodyView, Calls, DecodedView, Events, Pairs, Timing } from "./Parts"
import { ReplayDialog } from "./ReplayDialog"

interface FlowPageProps {
  id: string
  /** Whether the journal keeps secrets. The daemon decides who may see them. */
  canReveal: boolean
  close(): void
}

/** One flow, beside the list. */
export function FlowPage({ id, canReveal, close }: FlowPageProps) {
  // another flow begins without its secrets
  const [revealed, setRevealed] = useState<string | null>(null)
  const isRevealed = revealed === id
  const { data, problem, reload } = useResource<FlowDetail>(
    `/v1/flows/${encodeURIComponent(id)}${query({ reveal: isRevealed || null })}`)
  const [dialog, setDialog] = useState<"copy" | "replay" | null>(null)
  return (
    <article className="flow" aria-label={`Flow ${id}`}>
      <div className="bar flow-bar">
        <h2 className="grow">Flow <span className="mono">{id}</span></h2>
        {canReveal && (
          <button type="button" aria-pressed={isRevealed} onClick={() => setRevealed(isRevealed ? null : id)}>Secrets</button>
        )}
        {data !== null && <>
          <button type="button" onClick={() => setDialog("copy")}>Copy as…</button>
          <button type="button" onClick={() => setDialog("replay")}>Send again…</button>
        </>}
        <button type="button" onClick={close} aria-label="Close the flow">×</button>
      </div>
      {problem !== null && <Fault problem={problem} retry={reload} />}
      {data === null && problem === null && <Loading />}
      {data !== null && <Boundary place={id}><Shown detail={data} /></Boundary>}
      {dialog === "copy" && <CopyDialog id={id} isRevealed={isRevealed} onClose={() => setDialog(null)} />}
      {dialog === "replay" && data !== null && <ReplayDialog detail={data} onClose={() => setDialog(null)} />}
    </article>
  )
}

function Shown({ detail }: { detail: FlowDetail }) {
  const { flow } = detail
  return (
    <>
      <div className="flow-facts">
        <p className="mono flow-url">{flow.method} {flow.url}</p>
        <p className="facts">
          <Status status={flow.status} error={flow.error} /> <Label action={flow.action} /> <Marks flow={flow} />
          <span><Time at={flow.began} /></span><span>{duration(flow.duration_ms)}</span>
          <span>{size(flow.request_bytes)} sent, {size(flow.response_bytes)} received</span>
          <span>from {flow.client}{flow.user === null ? "" : ` (${flow.user})`}</span>
          {flow.tree !== null && <span>{flow.realm} {flow.tree}</span>}
          {flow.session !== null && <span>test session <a href={link("sessions", flow.session)}>{flow.session}</a></span>}
          {flow.parent !== null && <span>for <a href={link("flows", flow.parent)}>flow {flow.parent}</a></span>}
          {flow.action !== null && <a href={link("journeys", flow.id)}>Its journey</a>}
        </p>
        {flow.error !== null && <p className="bad">{flow.error}</p>}
      </div>
      <FlowTabs detail={detail} />
    </>
  )
}

function FlowTabs({ detail }: { detail: FlowDetail }) {
  const { request, sent, answer, response } = detail
  const calls = detail.calls as FlowDetail[]
  const found = useMemo(() => {
    const at = sent ?? request
    return {
      decoded: decodedOf(detail), query: queryOf(at.url), form: formOf(at),
      cookies: cookiesOf(at.fields), setCookies: cookiesOf((response ?? { fields: [] }).fields),
    }
  }, [detail, request, sent, response])

  const tabs: (Tab | false)[] = [
    {
      id: "messages", label: "Messages", content: () => (
        <>
          <MessageDiff
            side="request" title="Request" names={["From the app", "To the server"]} before={request} after={sent}
            events={detail.events}
          />
          {request.body.bytes > 0 && sameBody(request, sent) && <BodyView title="Body of the request" message={request} />}
          {response !== null && (
            <MessageDiff
              side="response" title="Response" names={["From the server", "To the app"]} before={answer ?? response}
              after={answer === null ? null : response} events={detail.events}
            />
          )}
          {response !== null && response.body.bytes > 0 && sameBody(response, answer) && (
            <BodyView title="Body of the response" message={response} />
          )}
        </>
      ),
    },
    {
      id: "headers", label: "Headers", count: request.fields.length + (response?.fields.length ?? 0), content: () => (
        <>
          <Pairs title="Request, as the app sent it" pairs={request.fields} />
          {response !== null && <Pairs title="Response, as the app received it" pairs={response.fields} />}
        </>
      ),
    },
    found.query.length > 0 && {
      id: "query", label: "Query", count: found.query.length,
      content: () => <Pairs title="Parameters of the URL, as sent to the server" pairs={found.query} />,
    },
    found.cookies.length + found.setCookies.length > 0 && {
      id: "cookies", label: "Cookies", count: found.cookies.length + found.setCookies.length, content: () => (
        <><Pairs title="Sent to the server" pairs={found.cookies} /><Pairs title="Set by the response" pairs={found.setCookies} /></>
      ),
    },
    found.form.length > 0 && {
      id: "form", label: "Form", count: found.form.length, content: () => <Pairs title="Parameters of the body" pairs={found.form} />,
    },
    {
      id: "body", label: "Body", content: () => (
        <>
          <BodyView title="Request" message={request} />
          {response !== null && <BodyView title="Response" message={response} />}
        </>
      ),
    },
    found.decoded.length > 0 && {
      id: "decoded", label: "Decoded", count: found.decoded.length, content: () => <DecodedView found={found.decoded} />,
    },
    { id: "timing", label: "Timing", content: () => <Timing detail={detail} calls={calls} /> },
    calls.length > 0 && { id: "calls", label: "Calls", count: calls.length, content: () => <Calls calls={calls} /> },
    detail.events.length > 0 && {
      id: "events", label: "Events", count: detail.events.length, content: () => <Events events={detail.events} />,
    },
  ]
  return <Tabs name="Parts of the flow" tabs={tabs.filter((tab): tab is Tab => tab !== false)} />
}
