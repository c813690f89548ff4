import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react"

export interface Tab {
  id: string
  label: string
  /** Stands behind the label. */
  count?: number
  content(): ReactNode
}

/** Tabs after the ARIA pattern: arrows move between them. */
export function Tabs({ tabs, name, first }: { tabs: Tab[]; name: string; first?: string }) {
  const [chosen, setChosen] = useState(first ?? tabs[0]?.id)
  const prefix = useId()
  const list = useRef<HTMLDivElement>(null)
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0]
  if (current === undefined) return null

  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const index = (tabs.indexOf(current) + step + tabs.length) % tabs.length
    setChosen(tabs[index]!.id)
    ;(list.current?.children[index] as HTMLElement | undefined)?.focus()
  }
  return (
    <div className="tabs">
      <div role="tablist" aria-label={name} ref={list} onKeyDown={pressed}>
        {tabs.map((tab) => (
          <button
            key={tab.id} type="button" role="tab" id={`${prefix}-${tab.id}`} aria-selected={tab === current}
            aria-controls={`${prefix}-panel`} tabIndex={tab === current ? 0 : -1} onClick={() => setChosen(tab.id)}
          >
            {tab.label}{tab.count !== undefined && <span className="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${prefix}-panel`} aria-labelledby={`${prefix}-${current.id}`} tabIndex={0}>
        {current.content()}
      </div>
    </div>
  )
}
