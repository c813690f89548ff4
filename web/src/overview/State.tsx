// The daemon's state: load, configuration, workers, environments, journal, and what went wrong.
import type { ReactNode } from "react"
import { Result, type ReloadReport } from "../configuration/Reload"
import { duration, size, Time } from "../parts/Time"
import { link } from "../route"
import { LogLevel } from "./LogLevel"
import { Lockout } from "./Lockout"

export interface Status {
  version: string
  pid: number
  state: "starting" | "serving" | "draining"
  started: string
  uptime_s: number
  configuration: {
    generation: number; file: string; loaded: string; by: string; restart: string[]; last_failure: ReloadReport | null
  }
  listening: string[]
  connections: { open: number; most: number; accepted: number }
  exchanges: { under_way: number; served: number; per_second_10s: number; per_second_1m: number }
  environments: { label: string; hosts: string[]; allow: string[]; rate: string | null }[]
  memory_bytes: number
  journal: {
    flows: number; bytes: number; dropped: number
    disk: { open: boolean; flows: number; bytes: number; dropped: number } | null
  } | null
  workers: { number: number; connections: number; under_way: number; accepted: number; served: number; stalls: number }[]
  faults: { at: string; text: string }[]
}

/** The state in a few numbers, and what is wrong. */
export function Summary({ status }: { status: Status }) {
  const { configuration, connections, exchanges, journal } = status
  // a later reload that succeeded mended it
  const failure = (configuration.last_failure?.at ?? "") >= configuration.loaded ? configuration.last_failure : null
  return (
    <>
      <div className="tiles">
        <Tile name="Daemon" value={<span className={status.state === "serving" ? "ok" : "warn"}>{status.state}</span>}>
          Usher {status.version}, process {status.pid}, up {duration(status.uptime_s * 1000)}
        </Tile>
        <Tile name="Requests a second" value={exchanges.per_second_10s.toFixed(1)}>
          {exchanges.per_second_1m.toFixed(1)} over a minute; {exchanges.under_way} under way, {exchanges.served} served
        </Tile>
        <Tile name="Connections" value={String(connections.open)}>
          of {connections.most}; {connections.accepted} accepted
          <meter aria-label="Connections" max={connections.most} value={connections.open} high={connections.most * 0.8} />
        </Tile>
        <Tile name="Memory" value={size(status.memory_bytes)}>listening on {status.listening.join(", ")}</Tile>
        <Tile name="Journal" value={journal === null ? "off" : `${journal.flows} flows`}>
          {journal !== null && <Journal journal={journal} />}
        </Tile>
        <Tile name="Configuration" value={<a href={link("configuration")}>Generation {configuration.generation}</a>}>
          {configuration.file}, read <Time at={configuration.loaded} /> by {configuration.by}
          {configuration.restart.length > 0 && (
            <div className="warn">needs usher upgrade: {configuration.restart.join(", ")}</div>
          )}
        </Tile>
      </div>
      {failure !== null && (
        <section aria-label="The last reload's failure">
          <Result report={failure} />
          <p className="dim">At <Time at={failure.at} whole /> by {failure.by}.</p>
        </section>
      )}
      {status.faults.length > 0 && (
        <section className="panel">
          <h2>The last faults</h2>
          <ul className="events">
            {status.faults.map(({ at, text }, place) => <li key={place}><Time at={at} whole /> {text}</li>)}
          </ul>
        </section>
      )}
    </>
  )
}

/** Workers and environments, and what a person changes: counts of refusals, the log. */
export function Parts({ status }: { status: Status }) {
  return (
    <div className="columns">
      <Workers workers={status.workers} />
      <Environments environments={status.environments} />
      <LogLevel />
      <Lockout />
    </div>
  )
}

function Environments({ environments }: { environments: Status["environments"] }) {
  return (
    <section className="panel">
      <h2>Environments</h2>
      {environments.length === 0 ? <p className="dim">The configuration has none (<code>environments</code>).</p> : (
        <table>
          <thead><tr><th>Name</th><th>Hosts</th><th>Allowed</th><th>Rate</th></tr></thead>
          <tbody>
            {environments.map(({ label, hosts, allow, rate }) => (
              <tr key={label}>
                <th scope="row">{label}</th><td>{hosts.join(", ")}</td><td>{allow.join(", ")}</td><td>{rate ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Tile({ name, value, children }: { name: string; value: ReactNode; children: ReactNode }) {
  return (
    <section className="panel tile"><h2>{name}</h2><p className="value">{value}</p><div className="dim">{children}</div></section>
  )
}

function Journal({ journal }: { journal: NonNullable<Status["journal"]> }) {
  const { bytes, dropped, disk } = journal
  return (
    <>
      {size(bytes)} in memory{dropped > 0 && <span className="bad">, {dropped} dropped</span>}
      {disk !== null && (
        <div>
          on disk {disk.flows} flows, {size(disk.bytes)}
          {!disk.open && <span className="bad">, not writable</span>}
          {disk.dropped > 0 && <span className="bad">, {disk.dropped} dropped</span>}
        </div>
      )}
    </>
  )
}

function Workers({ workers }: { workers: Status["workers"] }) {
  return (
    <section className="panel">
      <h2>Workers</h2>
      <table>
        <thead><tr>
          <th>Worker</th><th className="number">Connections</th><th className="number">Under way</th>
          <th className="number">Accepted</th><th className="number">Served</th><th className="number">Stalls</th>
        </tr></thead>
        <tbody>
          {workers.map((one) => (
            <tr key={one.number}>
              <th scope="row">{one.number}</th>
              <td className="number">{one.connections}</td><td className="number">{one.under_way}</td>
              <td className="number">{one.accepted}</td><td className="number">{one.served}</td>
              <td className={one.stalls > 0 ? "number bad" : "number"}>{one.stalls}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
