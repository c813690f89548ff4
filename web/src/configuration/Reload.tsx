import { useEffect, useState } from "react"
import { get, post, type Problem } from "../api"
import { asProblem } from "../hooks"
import { Remarks, type Remark } from "../parts/Remarks"
import { Fault } from "../parts/Says"

/** What became of a reload. */
export interface ReloadReport {
  reload: number
  state: "running" | "done" | "failed"
  generation: number
  at: string
  by: string
  changed?: string[]
  restart?: string[]
  warnings?: Remark[]
  faults?: Remark[]
}

/** The button that reloads the configuration, and what came of it. */
export function Reload({ onDone }: { onDone(): void }) {
  const [report, setReport] = useState<ReloadReport | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const isRunning = report?.state === "running"

  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => {
      get<ReloadReport>(`/v1/reload/${report.reload}`).then((newest) => {
        setReport(newest)
        if (newest.state === "done") onDone()
      }, (error) => {
        setReport(null)
        setProblem(asProblem(error))
      })
    }, 200)
    return () => clearInterval(timer)
  }, [isRunning, report?.reload, onDone])

  const begin = () => {
    setProblem(null)
    post<ReloadReport>("/v1/reload").then(setReport, (error) => setProblem(asProblem(error)))
  }
  return (
    <div className="reload">
      <button type="button" className="primary" disabled={isRunning} onClick={begin}>
        {isRunning ? "Reloading…" : "Reload"}
      </button>
      {problem && <Fault problem={problem} />}
      <div role="status">{report !== null && !isRunning && <Result report={report} />}</div>
    </div>
  )
}

/** What changed, or why nothing did. */
export function Result({ report }: { report: ReloadReport }) {
  if (report.state === "failed") {
    return (
      <div className="fault">
        <p><strong>The reload failed.</strong> The configuration of generation {report.generation} stays in force.</p>
        <Remarks remarks={report.faults ?? []} />
      </div>
    )
  }
  const { changed = [], restart = [], warnings = [] } = report
  return (
    <>
      <p className="ok">
        Generation {report.generation} is in force.{" "}
        {changed.length === 0 ? "Nothing changed." : `Changed: ${changed.join(", ")}.`}
      </p>
      {restart.length > 0 && (
        <p className="warn">These keys need a restart (<code>usher upgrade</code>): {restart.join(", ")}.</p>
      )}
      <Remarks remarks={warnings} />
    </>
  )
}
