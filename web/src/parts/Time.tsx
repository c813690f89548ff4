const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false,
})
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" })

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })

/** A time in the viewer's zone, with the day if it is another one; the whole date stands in its title. */
export function Time({ at, whole = false }: { at: string; whole?: boolean }) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const text = whole ? full.format(date) : (isToday ? "" : `${day.format(date)} `) + clock.format(date)
  return <time dateTime={at} title={full.format(date)}>{text}</time>
}

/** `clockTime("2026-11-27T…")` → `22:01:07.123` */
export const clockTime = (at: string): string => clock.format(new Date(at))

/** `duration(5230)` → `5.23 s` */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

/** `size(2048)` → `2.0 KiB` */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1 << 20) return `${(bytes / 1024).toFixed(1)} KiB`
  if (bytes < 1 << 30) return `${(bytes / (1 << 20)).toFixed(1)} MiB`
  return `${(bytes / (1 << 30)).toFixed(1)} GiB`
}
