// Tells of step-ups that begin to wait: by a notification of the browser, and in the page's title.
import { useEffect, useRef, useState } from "react"
import { go, link } from "../route"
import { usePending } from "./store"

const title = document.title

/** Watches for as long as the page is open, whichever part of it is shown. */
export function useNotices(): void {
  const { transactions, isKnown } = usePending()
  const known = useRef<Set<string> | null>(null)

  useEffect(() => {
    document.title = transactions.length > 0 ? `(${transactions.length}) ${title}` : title
  }, [transactions.length])

  useEffect(() => {
    if (!isKnown) return
    const before = known.current
    known.current = new Set(transactions.map((one) => one.id))
    // what waited before the page was opened is no news
    if (before === null || !document.hidden || permission() !== "granted") return
    for (const one of transactions) {
      if (before.has(one.id)) continue
      show(one.id, one.header || "A step-up waits for you", `${one.method} ${one.resource}`)
    }
  }, [transactions, isKnown])
}

function show(id: string, heading: string, body: string): void {
  try {
    const notice = new Notification(heading, { body, tag: id })
    notice.onclick = () => {
      window.focus()
      go(link("pending", id))
      notice.close()
    }
  } catch {
    // phones allow notifications to service workers alone; the title still tells
  }
}

type Permission = NotificationPermission | "missing"

const permission = (): Permission => ("Notification" in window ? Notification.permission : "missing")

/** The browser's permission, and a question for it. */
export function usePermission(): [Permission, () => void] {
  const [now, setNow] = useState(permission)
  return [now, () => void Notification.requestPermission().then(setNow)]
}
