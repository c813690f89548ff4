import { useEffect, useState } from "react"

/** `minutes(291_000)` → `4:51` */
export function minutes(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const [hours, rest] = [Math.floor(seconds / 3600), seconds % 3600]
  const short = `${Math.floor(rest / 60)}:${String(rest % 60).padStart(2, "0")}`
  return hours > 0 ? `${hours}:${short.padStart(5, "0")}` : short
}

/** The milliseconds until an instant of `performance.now()`, anew each second. */
function useLeft(until: number): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    setNow(performance.now())
    const timer = setInterval(() => setNow(performance.now()), 1000)
    return () => clearInterval(timer)
  }, [until])
  return until - now
}

/** The time left until an instant of `performance.now()`. */
export function Countdown({ until }: { until: number }) {
  const left = useLeft(until)
  if (left <= 0) return <span className="bad">over</span>
  return <span className={left < 30_000 ? "countdown bad" : "countdown"}>{minutes(left)}</span>
}

/** The same as a bar, of the whole time in milliseconds. */
export function TimeBar({ until, whole }: { until: number; whole: number }) {
  const left = useLeft(until)
  return (
    <progress className={left < 30_000 ? "timebar low" : "timebar"} max={whole} value={Math.max(0, left)}
      aria-label="Time left" />
  )
}
