// What Usher would do with a request: the Action, each interceptor's verdict, and the request before and after.
import { useState, type FormEvent } from "react"
import { post, type Problem } from "../api"
import { asProblem } from "../hooks"
import { diff } from "../flow/diff"
import { Line } from "../flow/HeadDiff"
import { Code } from "../parts/Code"
import { Label, Status } from "../parts/Label"
import { Fault } from "../parts/Says"
import { requestLines, responseLines, type Explanation, type Verdict } from "./explanation"

const example = `curl -X POST 'https://am.example.com/am/json/authenticate?authIndexType=service&authIndexValue=Login'`

export function Explain() {
  const [request, setRequest] = useState("")
  const [response, setResponse] = useState("")
  const [explanation, setExplanation] = useState<Explanation | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)

  const ask = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      setExplanation(await post("/v1/explain", { request, response: response.trim() === "" ? undefined : response }))
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
        <details>
          <summary>With a response of the origin</summary>
          <Code value={response} language="text" label="The response, as an HTTP message" onChange={setResponse} />
        </details>
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
  const { action, evidence, payload, realm, protocol, request, forwarded, events } = explanation
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
        <h2>The request</h2>
        {forwarded === null ? <p>It is not forwarded.</p> : (
          <Halves names={["As the client sends it", "As the origin gets it"]}
            before={requestLines(request)} after={requestLines(forwarded)} />
        )}
      </section>
      {calls.map((call, place) => (
        <section key={place} className="panel">
          <h2>A call to AM</h2>
          <pre tabIndex={0}>{requestLines(call).join("\n")}</pre>
        </section>
      ))}
      <Answer explanation={explanation} />
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

/** What the client gets, if that is known. */
function Answer({ explanation: { response, answered, received } }: { explanation: Explanation }) {
  const own = answered ?? (response === null ? received : null)
  if (own !== null) {
    return (
      <section className="panel">
        <h2>Usher answers by itself <Status status={own.status} /></h2>
        <pre tabIndex={0}>{responseLines(own).join("\n")}</pre>
      </section>
    )
  }
  if (response === null || received === null) return null
  return (
    <section className="panel">
      <h2>The response</h2>
      <Halves names={["As the origin sends it", "As the client gets it"]}
        before={responseLines(response)} after={responseLines(received)} />
    </section>
  )
}

function Halves({ names, before, after }: { names: [string, string]; before: string[]; after: string[] }) {
  return (
    <table className="diff halves">
      <thead><tr>{names.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{diff(before, after).map((row, place) => <Line key={place} row={row} />)}</tbody>
    </table>
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
