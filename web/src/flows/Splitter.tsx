import { useEffect, useState, type KeyboardEvent, type PointerEvent } from "react"

const place = "usher.split"
const [least, most] = [20, 70]
const within = (share: number) => Math.min(most, Math.max(least, Math.round(share)))

/** The list's share of the width in percent, as the person left it. */
export function useSplit(): [number, (share: number) => void] {
  const [share, setShare] = useState(() => within(Number(localStorage.getItem(place)) || 36))
  useEffect(() => localStorage.setItem(place, String(share)), [share])
  return [share, (share) => setShare(within(share))]
}

/** The edge between the list and the flow: dragged, or moved by the arrow keys. */
export function Splitter({ share, onChange }: { share: number; onChange(share: number): void }) {
  const moved = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) onChange((event.clientX / window.innerWidth) * 100)
  }
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    onChange(share + step)
  }
  return (
    <div
      role="separator" aria-orientation="vertical" aria-label="Width of the list" aria-valuemin={least} aria-valuemax={most}
      aria-valuenow={share} tabIndex={0} className="splitter" onKeyDown={pressed} onPointerMove={moved}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
    />
  )
}
