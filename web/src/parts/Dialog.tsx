import { useEffect, useId, useRef, type ReactNode } from "react"

interface DialogProps {
  title: string
  onClose(): void
  children: ReactNode
  /** The buttons; without them there is one that closes. */
  footer?: ReactNode
  wide?: boolean
}

/** A modal dialog. The focus comes back to where it was; Escape closes. */
export function Dialog({ title, onClose, children, footer, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    dialog.current?.showModal()
    return () => before?.focus()
  }, [])
  return (
    <dialog
      ref={dialog} className={wide ? "wide" : undefined} aria-labelledby={heading}
      onCancel={(event) => { event.preventDefault(); onClose() }}
      onClick={(event) => { if (event.target === dialog.current) onClose() }}
    >
      <div className="dialog">
        <header><h2 id={heading}>{title}</h2><button type="button" aria-label="Close" onClick={onClose}>×</button></header>
        <div className="dialog-body">{children}</div>
        <footer>{footer ?? <button type="button" onClick={onClose}>Close</button>}</footer>
      </div>
    </dialog>
  )
}
