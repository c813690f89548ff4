// What Usher would do with a request: the Action, each interceptor's verdict, and the request before and after.
import { useState, type FormEvent } from "react"
import { post, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Code } from "../parts/Code"
import { Label, Status } from "../parts/Label"
import { LineDiff } from "../parts/LineDiff"
import { Fault } from "../parts/Says"
import { requestLines, responseLines, type Explanation, type Verdict } from "./explanation"

const example = `curl -X POST 'https://am.example.com/am/json/authenticate?authIndexType=service&authIndexValue=Login'`

export function Explain() {
  const [request, setRequest] = useState("")
  const [explanation, setExplanation] = useState<Explanation | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)

  const ask = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      setExplanation(await post<Explanation>("/v1/explain", { request }))
    } catch (error) {
      setExplanation(null)
      setProblem(asProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <form className="explain" onSubmit={ask}>
        <p>Paste a curl command line or an HTTP message. Nothing is sent.</p>
        <Code value={request} language="text" label="A curl command line or an HTTP message" onChange={setRequest} />
        <div className="bar">
          <button type="submit" className="primary" disabled={isBusy || request.trim() === ""}>Explain</button>
          <button type="button" onClick={() => setRequest(example)}>An example</button>
        </div>
      </form>
      {problem && <Fault problem={problem} />}
      <div aria-live="polite">{explanation !== null && <Explained explanation={explanation} />}</div>
    </>
  )
}

function Explained({ explanation }: { explanation: Explanation }) {
  const { action, evidence, payload, realm, protocol, request, forwarded, answered, events } = explanation
  const facts: [string, unknown][] = [
    ["Realm", realm], ...Object.entries(payload ?? {}), ["Protocol", protocol],
    ["Environment", explanation.environment], ["Protected by", explanation.resource],
    ["Session from", explanation.session], ["Route", explanation.route], ["Address", explanation.address],
    ["Not opened", explanation.unopened],
  ]
  const calls = explanation.sent.filter((one) => one.call)
  return (
    <div className="explained">
      <section className="panel">
        <h2>{action === null ? "No Action" : <Label action={action} />}</h2>
        <p>{evidence}</p>
        <dl className="facts">
          {facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
          {explanation.asks_person && <><dt>Answers</dt><dd>a person may be asked</dd></>}
        </dl>
      </section>
      <section className="panel">
        <h2>Interceptors</h2>
        {explanation.interceptors.length === 0 ? <p className="dim">The configuration has none.</p>
          : <Verdicts verdicts={explanation.interceptors} />}
      </section>
      <section className="panel">
        <h2>The request, before and after</h2>
        {forwarded === null ? <p>It is not forwarded.</p> : (
          <LineDiff label="The request, before and after" before={requestLines(request)} after={requestLines(forwarded)} />
        )}
      </section>
      {answered !== null && (
        <section className="panel">
          <h2>Usher answers by itself <Status status={answered.status} /></h2>
          <LineDiff before={[]} after={responseLines(answered)} label="The answer" />
        </section>
      )}
      {calls.map((call, place) => (
        <section key={place} className="panel">
          <h2>A call to AM</h2>
          <LineDiff before={requestLines(call)} after={requestLines(call)} label="A call to AM" />
        </section>
      ))}
      {events.length > 0 && (
        <section className="panel">
          <h2>Events</h2>
          <ol className="events">
            {events.map((event, place) => <li key={place}><span className="tag">{event.kind}</span> {event.text}</li>)}
          </ol>
        </section>
      )}
    </div>
  )
}

function Fact({ name, value }: { name: string; value: unknown }) {
  return <><dt>{name}</dt><dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd></>
}

function Verdicts({ verdicts }: { verdicts: Verdict[] }) {
  return (
    <table>
      <thead><tr><th>Applies</th><th>Interceptor</th><th>Because</th><th>Does</th></tr></thead>
      <tbody>
        {verdicts.map((one, place) => {
          const did = [...new Set(one.phases.flatMap((phase) => phase.did))]
          return (
            <tr key={place} className={one.matched ? undefined : "dim"}>
              <td>{one.matched ? <strong className="ok">yes</strong> : "no"}</td>
              <th scope="row">{one.name}</th>
              <td>{one.because}</td>
              <td>{did.length === 0 ? "–" : did.join(", ")}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
