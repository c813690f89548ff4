import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from "react"
import { useResource } from "../hooks"
import { complete, isWhole, type FilterKey } from "./completion"

interface FilterLineProps {
  /** The filter in force. */
  value: string
  onChange(filter: string): void
  /** Why the daemon does not take it. */
  fault: string | null
  field: RefObject<HTMLInputElement>
  placeholder: string
  /** Keys beside those of flows. */
  more?: FilterKey[]
}

const none: FilterKey[] = []

/** How long a person pauses before what is typed is in force. */
const patience = 600

/** The line for a filter: it completes keys and values, and shows what is wrong in place. */
export function FilterLine({ value, onChange, fault, field, placeholder, more = none }: FilterLineProps) {
  const { data } = useResource<{ keys: FilterKey[] }>("/v1/filter")
  const [text, setText] = useState(value)
  const [caret, setCaret] = useState(value.length)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const id = useId()
  /** Where the caret goes after a completion. */
  const moved = useRef<number | null>(null)
  useEffect(() => setText(value), [value])

  const found = useMemo(() => complete(text, caret, [...more, ...(data?.keys ?? [])]), [text, caret, data, more])
  const isListed = isOpen && found.options.length > 0

  useEffect(() => {
    // a term without its value is still being typed
    if (text === value || !isWhole(text)) return
    const timer = setTimeout(() => onChange(text.trim()), patience)
    return () => clearTimeout(timer)
  }, [text, value, onChange])

  const take = (index: number) => {
    const option = found.options[index]
    if (option === undefined) return
    const before = text.slice(0, found.from) + option.text
    setText(before + text.slice(found.to))
    setCaret(before.length)
    setChosen(-1)
    setOpen(option.text.endsWith("="))
    moved.current = before.length
  }
  useLayoutEffect(() => {
    if (moved.current === null) return
    field.current?.setSelectionRange(moved.current, moved.current)
    moved.current = null
  }, [text, field])
  const pressed = (event: KeyboardEvent) => {
    const count = found.options.length
    if (event.key === "ArrowDown" && count > 0) {
      setOpen(true)
      setChosen((chosen + 1) % count)
    } else if (event.key === "ArrowUp" && isListed) setChosen((chosen - 1 + count) % count)
    else if ((event.key === "Enter" || event.key === "Tab") && isListed && chosen >= 0) take(chosen)
    else if (event.key === "Enter") {
      setOpen(false)
      onChange(text.trim())
    } else if (event.key === "Escape") {
      if (isListed) setOpen(false)
      else field.current?.blur()
    } else return
    event.preventDefault()
  }
  return (
    <div className="filter grow">
      <input
        ref={field} type="text" role="combobox" aria-label="Filter" aria-autocomplete="list" aria-expanded={isListed}
        aria-controls={`${id}-list`} aria-activedescendant={isListed && chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-invalid={fault !== null} aria-describedby={fault === null ? undefined : `${id}-fault`} value={text}
        placeholder={placeholder} spellCheck={false} autoComplete="off" autoCapitalize="off" className="mono"
        onChange={(event) => {
          setText(event.target.value)
          setCaret(event.target.selectionStart ?? event.target.value.length)
          setOpen(true)
          setChosen(-1)
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
        onKeyDown={pressed} onBlur={() => setOpen(false)}
      />
      {text !== "" && (
        <button type="button" className="plain" aria-label="Remove the filter" onClick={() => { setText(""); onChange("") }}>×</button>
      )}
      <ul role="listbox" id={`${id}-list`} aria-label="Completions" hidden={!isListed}>
        {isListed && found.options.map((option, index) => (
          <li
            key={option.text} role="option" id={`${id}-${index}`} aria-selected={index === chosen}
            onMouseDown={(event) => { event.preventDefault(); take(index) }}
          >
            <span className="mono">{option.text}</span><span className="dim">{option.about}</span>
          </li>
        ))}
      </ul>
      {fault !== null && <p className="bad" id={`${id}-fault`} role="alert">{fault}</p>}
    </div>
  )
}
