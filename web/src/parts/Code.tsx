import CodeMirror from "codemirror"
import "codemirror/addon/dialog/dialog"
import "codemirror/addon/dialog/dialog.css"
import "codemirror/addon/fold/brace-fold"
import "codemirror/addon/fold/foldcode"
import "codemirror/addon/fold/foldgutter"
import "codemirror/addon/fold/foldgutter.css"
import "codemirror/addon/fold/indent-fold"
import "codemirror/addon/search/search"
import "codemirror/addon/search/searchcursor"
import "codemirror/lib/codemirror.css"
import "codemirror/mode/javascript/javascript"
import "codemirror/mode/yaml/yaml"
import { useEffect, useRef } from "react"

export type Language = "yaml" | "json" | "text"

interface CodeProps {
  value: string
  language: Language
  /** Its name for those who do not see it. */
  label: string
  /** Without it the text is only to read. */
  onChange?(value: string): void
  /** Lines with a fault, from 1. */
  faults?: number[]
}

const none: number[] = []
const modes = { yaml: "yaml", json: { name: "javascript", json: true }, text: "text/plain" }

/** A text in CodeMirror, to read or to edit: Ctrl-F searches, the gutter folds. Tab goes on, as in any field. */
export function Code({ value, language, label, onChange, faults = none }: CodeProps) {
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeMirror.Editor | null>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const isReadOnly = onChange === undefined

  useEffect(() => {
    const made = CodeMirror(place.current!, {
      mode: modes[language], theme: "usher", readOnly: isReadOnly,
      screenReaderLabel: label, lineNumbers: true, lineWrapping: true, foldGutter: true, tabSize: 2, indentUnit: 2,
      gutters: ["CodeMirror-linenumbers", "CodeMirror-foldgutter"], viewportMargin: isReadOnly ? 50 : Infinity,
      extraKeys: { Tab: false, "Shift-Tab": false, "Ctrl-F": "findPersistent", "Cmd-F": "findPersistent" },
    })
    // a long text to read scrolls by the keyboard, too
    if (isReadOnly) made.getScrollerElement().tabIndex = 0
    made.on("change", () => changed.current?.(made.getValue()))
    editor.current = made
    // in a dialog it gets its place only once that is open
    const resized = new ResizeObserver(() => made.refresh())
    resized.observe(place.current!)
    return () => {
      resized.disconnect()
      place.current?.replaceChildren()
    }
  }, [language, label, isReadOnly])

  useEffect(() => {
    if (editor.current !== null && editor.current.getValue() !== value) editor.current.setValue(value)
  }, [value, language, label, isReadOnly])

  useEffect(() => {
    const lines = faults.map((line) => editor.current?.addLineClass(line - 1, "background", "code-fault"))
    return () => {
      for (const line of lines) if (line !== undefined) editor.current?.removeLineClass(line, "background", "code-fault")
    }
  }, [faults])

  return <div ref={place} className={isReadOnly ? "code code-read" : "code"} />
}
