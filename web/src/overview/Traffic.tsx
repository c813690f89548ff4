// Requests, errors, step-ups and times by Action over the last hour: charts, and the same numbers as tables.
import { useMemo, useState } from "react"
import { useResource } from "../hooks"
import { hue } from "../parts/Label"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { duration } from "../parts/Time"
import { Chart, useDarkness, type Line } from "./Chart"
import { counted, nameOf, percentiles, series, totals, type Measure, type Rate, type Rates } from "./rates"

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false })
const titles: Record<Measure, string> = {
  requests: "Requests a minute", errors: "Errors a minute", step_ups: "Step-ups a minute",
  p50_ms: "p50", p95_ms: "p95", p99_ms: "p99",
}
const dashes = [[], [6, 3], [2, 3]]
/** So many Actions are drawn until the viewer chooses. */
const usual = 6

export function Traffic() {
  const { data, problem, reload } = useResource<Rates>("/v1/rates", { every: 10_000 })
  const [chosen, setChosen] = useState<string[] | null>(null)
  const [percentile, setPercentile] = useState<(typeof percentiles)[number]>("p95_ms")
  const isDark = useDarkness()
  const all = useMemo(() => (data === null ? [] : totals(data)), [data])
  const times = useMemo(() => (data?.points ?? []).map(({ at }) => clock.format(new Date(at))), [data])
  const shown = chosen ?? all.slice(0, usual).map(({ action }) => action)
  const key = shown.join(" ")
  const lines = useMemo(() => {
    const drawn = (measure: Measure): Line[] => shown.map((action) => ({
      label: nameOf(action), values: data === null ? [] : series(data, action, measure), colour: colourOf(action, all, isDark),
    }))
    // one Action alone has room for its three percentiles
    const spread = (action: string): Line[] => percentiles.map((measure, place) => ({
      label: titles[measure], values: data === null ? [] : series(data, action, measure),
      colour: colourOf(action, all, isDark), dash: dashes[place],
    }))
    return {
      requests: drawn("requests"), errors: drawn("errors"), step_ups: drawn("step_ups"),
      times: shown.length === 1 ? spread(shown[0]!) : drawn(percentile),
    }
  }, [data, all, key, percentile, isDark])

  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  if (all.length === 0) {
    return (
      <Empty title="Nothing came through in the last hour">
        <p>Lead a program through the proxy:</p>
        <Command>{'eval "$(usher env)"'}</Command>
        <p>If one should come through and does not:</p>
        <Command>usher doctor</Command>
      </Empty>
    )
  }
  const toggle = (action: string) =>
    setChosen(shown.includes(action) ? shown.filter((one) => one !== action) : [...shown, action])
  return (
    <section aria-label="The last hour">
      {problem && <Fault problem={problem} />}
      <div className="charts">
        {counted.map((measure) => (
          <Chart key={measure} title={titles[measure]} times={times} lines={lines[measure]}
            isStacked={measure === "requests"} />
        ))}
        <Chart
          title={shown.length === 1 ? `Times of ${nameOf(shown[0]!)}: p50, p95 and p99` : `Times: ${titles[percentile]}`}
          times={times} lines={lines.times} written={time}
        />
      </div>
      <div className="bar">
        <p className="grow dim">The last hour. Choose Actions; the times are those of the slowest minute.</p>
        {percentiles.map((one) => (
          <button key={one} type="button" aria-pressed={percentile === one} onClick={() => setPercentile(one)}>
            {titles[one]}
          </button>
        ))}
        <button type="button" onClick={() => setChosen(null)}>The most frequent</button>
      </div>
      <table className="totals">
        <thead><tr>
          <th>Action</th><th className="number">Requests</th><th className="number">Errors</th>
          <th className="number">Step-ups</th><th className="number">p50</th><th className="number">p95</th>
          <th className="number">p99</th>
        </tr></thead>
        <tbody>
          {all.map((rate) => (
            <Total key={rate.action} rate={rate} isShown={shown.includes(rate.action)}
              colour={colourOf(rate.action, all, isDark)} onToggle={() => toggle(rate.action)} />
          ))}
        </tbody>
      </table>
      <Minutes rates={data} times={times} shown={shown} />
    </section>
  )
}

/** The colour of an Action's line: that of its label; the members of a group differ in lightness. */
function colourOf(action: string, all: Rate[], isDark: boolean): string {
  const group = all.map((rate) => rate.action).filter((one) => one !== "" && hue(one) === hue(action)).sort()
  const place = Math.max(0, group.indexOf(action))
  const lightness = isDark ? 68 - (place % 4) * 11 : 42 + (place % 4) * 10
  return action === "" ? `hsl(220 8% ${isDark ? 62 : 50}%)` : `hsl(${hue(action) + place * 9} 65% ${lightness}%)`
}

const time = (value: number | null): string => (value === null ? "–" : duration(Math.round(value)))

interface TotalProps { rate: Rate; isShown: boolean; colour: string; onToggle(): void }

function Total({ rate, isShown, colour, onToggle }: TotalProps) {
  return (
    <tr>
      <th scope="row">
        <button type="button" className="chip" aria-pressed={isShown} onClick={onToggle}>
          <span className="swatch" style={{ background: isShown ? colour : "transparent", borderColor: colour }} />
          {" "}{nameOf(rate.action)}
        </button>
      </th>
      <td className="number">{rate.requests}</td>
      <td className={rate.errors > 0 ? "number bad" : "number"}>{rate.errors}</td>
      <td className="number">{rate.step_ups}</td>
      {percentiles.map((one) => <td key={one} className="number">{time(rate[one])}</td>)}
    </tr>
  )
}

/** What the charts draw, as a table. */
function Minutes({ rates, times, shown }: { rates: Rates; times: string[]; shown: string[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="panel" onToggle={(event) => setOpen((event.target as HTMLDetailsElement).open)}>
      <summary>Every minute as a table</summary>
      {isOpen && (
        <table>
          <thead><tr>
            <th>Time</th><th>Action</th><th className="number">Requests</th><th className="number">Errors</th>
            <th className="number">Step-ups</th><th className="number">p50</th><th className="number">p95</th>
            <th className="number">p99</th>
          </tr></thead>
          <tbody>
            {rates.points.map(({ at, actions }, place) => actions.filter(({ action }) => shown.includes(action)).map((rate) => (
              <tr key={`${at} ${rate.action}`}>
                <th scope="row">{times[place]}</th><td>{nameOf(rate.action)}</td>
                {counted.map((one) => <td key={one} className="number">{rate[one]}</td>)}
                {percentiles.map((one) => <td key={one} className="number">{time(rate[one])}</td>)}
              </tr>
            ))).reverse()}
          </tbody>
        </table>
      )}
    </details>
  )
}
