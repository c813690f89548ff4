import { useState, type ReactNode } from "react"
import { post, Problem } from "../api"
import { asProblem } from "../hooks"
import { Code } from "../parts/Code"
import { Dialog } from "../parts/Dialog"
import { Remarks, remarksOf } from "../parts/Remarks"
import { Fault } from "../parts/Says"

interface JsonEntryProps {
  title: string
  /** Where it is posted. */
  path: string
  example: unknown
  onClose(): void
  onAdded(): void
  children: ReactNode
}

/** A dialog that posts an entry of a list of the configuration, written as JSON. */
export function JsonEntry({ title, path, example, onClose, onAdded, children }: JsonEntryProps) {
  const [text, setText] = useState(JSON.stringify(example, null, 2))
  const [problem, setProblem] = useState<Problem | null>(null)

  const add = async () => {
    setProblem(null)
    try {
      await post(path, parsed(text))
      onAdded()
      onClose()
    } catch (error) {
      setProblem(asProblem(error))
    }
  }
  const remarks = remarksOf(problem)
  return (
    <Dialog title={title} onClose={onClose} wide footer={
      <>
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" className="primary" onClick={() => void add()}>Add</button>
      </>
    }>
      {children}
      <Code value={text} language="json" label={title} onChange={setText} />
      {problem && remarks.length === 0 && <Fault problem={problem} />}
      {remarks.length > 0 && <div className="fault" role="alert"><Remarks remarks={remarks} /></div>}
    </Dialog>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem(0, "This is not JSON", error instanceof Error ? error.message : String(error))
  }
}
