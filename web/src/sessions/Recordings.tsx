// Recordings of a session: started and stopped here, and saved as an archive of their folder.
import { useState, type FormEvent } from "react"
import { del, post, type Problem } from "../api"
import { asProblem, useResource } from "../hooks"
import { Command, Empty, Fault, Loading } from "../parts/Says"
import { Time } from "../parts/Time"
import { tar } from "./tar"

interface Mark { name: string; filter: string; began: string }

/** A recording that ended: its folder. */
interface Recording extends Mark {
  exchanges: number
  remarks: string[]
  files: { name: string; text?: string; base64?: string }[]
}

/** What ended, by session: the daemon gives the files once, so they stay while the page is open. */
const kept = new Map<string, Recording[]>()

function bytesOf({ text, base64 }: Recording["files"][number]): Uint8Array {
  return base64 === undefined ? new TextEncoder().encode(text ?? "")
    : Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}

function save({ name, files }: Recording): void {
  const packed = tar(files.map((file) => ({ name: `${name}/${file.name}`, bytes: bytesOf(file) })))
  const place = document.createElement("a")
  place.href = URL.createObjectURL(packed)
  place.download = `${name}.tar`
  place.click()
  setTimeout(() => URL.revokeObjectURL(place.href), 1000)
}

export function Recordings({ id }: { id: string }) {
  const { data, problem, reload } = useResource<{ recordings: Mark[] }>("/v1/recordings", { every: 3000 })
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const [stopped, setStopped] = useState(() => kept.get(id) ?? [])
  if (data === null) return problem === null ? <Loading /> : <Fault problem={problem} retry={reload} />
  const own = `session=${id}`
  const marks = data.recordings.filter((mark) => mark.filter.split(" ").includes(own))

  const attempt = async (work: () => Promise<void>) => {
    setRefusal(null)
    try {
      await work()
    } catch (error) {
      setRefusal(asProblem(error))
    }
    reload()
  }
  const start = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const [name, filter] = ["name", "filter"].map((key) => String(new FormData(form).get(key)).trim())
    void attempt(async () => {
      await post("/v1/recordings", { name, filter: `${own} ${filter}`.trim() })
      form.reset()
    })
  }
  const stop = (name: string) => attempt(async () => {
    const recording = await del<Recording>(`/v1/recordings/${encodeURIComponent(name)}`)
    kept.set(id, [recording, ...kept.get(id) ?? []])
    setStopped(kept.get(id)!)
  })
  return (
    <>
      <form className="bar" onSubmit={start}>
        <label htmlFor="recording-name">Name</label>
        <input id="recording-name" name="name" className="brief" required maxLength={64} pattern="[A-Za-z0-9._\-]+"
          autoComplete="off" />
        <label htmlFor="recording-filter">Filter</label>
        <input id="recording-filter" name="filter" className="grow mono" autoComplete="off"
          placeholder="host=am.example.com (without one: all flows of the session)" />
        <button type="submit" className="primary">Record</button>
      </form>
      {refusal && <Fault problem={refusal} />}
      {marks.length === 0 && stopped.length === 0 && (
        <Empty title="Nothing is recorded">
          <p>A recording is a folder of exchanges that a stand-in plays later: give it a name above. In a terminal:</p>
          <Command>usher record start checkout 'host=am.example.com'</Command>
        </Empty>
      )}
      <ul className="cards">
        {marks.map(({ name, filter, began }) => (
          <li key={name} className="card bar">
            <strong className="bad">● {name}</strong>
            <span className="grow dim">since <Time at={began} />, {filter}</span>
            <button type="button" onClick={() => void stop(name)}>Stop {name}</button>
          </li>
        ))}
        {stopped.map((recording) => (
          <li key={`${recording.name} ${recording.began}`} className="card">
            <div className="bar">
              <strong>{recording.name}</strong>
              <span className="grow dim">
                exchanges: {recording.exchanges}, files: {recording.files.length}; only this page has them
              </span>
              <button type="button" className="primary" onClick={() => save(recording)}>
                Save {recording.name}.tar
              </button>
            </div>
            {recording.remarks.map((remark) => <p key={remark} className="warn">{remark}</p>)}
            <code className="dim">usher replay-server {recording.name} --listen 127.0.0.1:9080</code>
          </li>
        ))}
      </ul>
    </>
  )
}
