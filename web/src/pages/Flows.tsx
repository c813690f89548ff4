import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type CSSProperties } from "react"
import { query } from "../api"
import { FlowPage } from "../flow/FlowPage"
import { brief, chosenColumns, columns } from "../flows/columns"
import { Columns, Help } from "../flows/Dialogs"
import { FilterLine } from "../flows/FilterLine"
import { FlowFeed } from "../flows/FlowFeed"
import { FlowTable, rowHeight, showRow, spoken } from "../flows/FlowTable"
import { SaveHAR } from "../flows/SaveHAR"
import { Splitter, useSplit } from "../flows/Splitter"
import { useKeys, useResource } from "../hooks"
import { Command, Empty, Fault } from "../parts/Says"
import { go, link, replaceRoute, type Route } from "../route"

/** The feed of a filter. Until it has something to say, the list of the filter before it stays. */
function useFeed(filter: string): { feed: FlowFeed; fault: string | null } {
  const feed = useMemo(() => new FlowFeed(filter), [filter])
  const before = useRef(feed)
  useEffect(() => {
    feed.start()
    return () => feed.end()
  }, [feed])
  useSyncExternalStore(feed.watch, () => feed.version)
  const isWrong = feed.problem?.status === 400
  if (!isWrong && !feed.isLoading) before.current = feed
  const isWaiting = isWrong || (feed.isLoading && feed.rows === 0)
  return { feed: isWaiting ? before.current : feed, fault: isWrong ? feed.problem!.detail : null }
}

/** What the screen's width changes. */
function useNarrow(): boolean {
  const narrow = useMemo(() => window.matchMedia("(max-width: 700px)"), [])
  return useSyncExternalStore((changed) => {
    narrow.addEventListener("change", changed)
    return () => narrow.removeEventListener("change", changed)
  }, () => narrow.matches)
}

/** The live list of flows, and beside it the one that is open. */
export function Flows({ route }: { route: Route }) {
  const filter = route.query.get("q") ?? ""
  const openId = route.parts[1] ?? null
  const { feed, fault } = useFeed(filter)
  const [chosen, setChosen] = useState(chosenColumns)
  const [dialog, setDialog] = useState<"help" | "columns" | null>(null)
  /** The index in the ring: rows move, flows keep theirs. */
  const [cursor, setCursor] = useState<number | null>(null)
  const grid = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const isNarrow = useNarrow()
  const [share, setShare] = useSplit()
  const running = useResource<{ configuration: { journal?: { reveal?: boolean } } }>("/v1/configuration")
  const canReveal = running.data?.configuration.journal?.reveal === true

  const address = useCallback((id: string | null, q: string) =>
    (id === null ? link("flows") : link("flows", id)) + query({ q }), [])
  const shown = useMemo(() => {
    const ids = openId !== null || isNarrow ? brief : chosen
    return columns.filter((column) => ids.includes(column.id))
  }, [chosen, openId, isNarrow])

  // a flow that was opened by its address has a row, too
  const found = openId === null || feed.ring.at(cursor ?? NaN)?.id === openId ? cursor : feed.ring.indexOf(openId)
  const selected = found === null ? null : feed.rowOfIndex(found)

  useEffect(() => {
    if (selected === null) return
    feed.setFollowing(false)
    showRow(grid.current, selected)
    // only when another flow is opened: the list may be scrolled elsewhere
  }, [openId, found === null])

  const select = (row: number) => {
    if (feed.rows === 0) return
    const target = Math.max(0, Math.min(row, feed.rows - 1))
    feed.setFollowing(false)
    setCursor(feed.indexOfRow(target))
    showRow(grid.current, target)
    const id = feed.row(target)?.id
    if (openId !== null && id !== undefined) replaceRoute(address(id, filter))
  }
  const open = (row: number) => {
    const flow = feed.row(row)
    if (flow === undefined) return
    feed.setFollowing(false)
    setCursor(feed.indexOfRow(row))
    go(address(flow.id, filter))
  }
  const follow = (isOn: boolean) => {
    if (isOn) setCursor(null)
    feed.setFollowing(isOn)
    if (isOn) grid.current?.scrollTo({ top: 0 })
  }
  const setFilter = useCallback((q: string) => {
    setCursor(null)
    replaceRoute(address(openId, q))
  }, [address, openId])

  useKeys((key) => {
    const page = Math.max(1, Math.floor((grid.current?.clientHeight ?? 0) / rowHeight) - 2)
    const at = selected ?? -1
    const moves: Record<string, number> = {
      j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: feed.rows,
    }
    // the flow beside it scrolls by the same keys
    const isInFlow = document.activeElement?.closest(".flow") != null
    if (key in moves && !(isInFlow && key.length > 1)) {
      select(moves[key]!)
      // Enter is for the row from now on, not for the link that led here
      if (!isInFlow) grid.current?.focus({ preventScroll: true })
    } else if (key === "Enter" && selected !== null && !isInFlow && document.activeElement?.closest("button, a, summary") == null) open(selected)
    else if (key === "Escape" && openId !== null) {
      go(address(null, filter))
      grid.current?.focus()
    } else if (key === "/") field.current?.focus()
    else if (key === "f") follow(!feed.following)
    else if (key === "c") feed.clear()
    else if (key === "?") setDialog("help")
    else return false
    return true
  })

  const selectedFlow = selected === null ? undefined : feed.row(selected)
  return (
    <div className={openId === null ? "flows" : "flows split"} style={{ "--share": `${share}%` } as CSSProperties}>
      <h1 className="hidden">Flows</h1>
      <section className="flows-list" aria-label="List of flows">
        <div className="bar flows-bar">
          <FilterLine
            value={filter} onChange={setFilter} field={field} fault={fault}
            placeholder="Filter: action=AUTHENTICATE status=4xx"
          />
          <button type="button" aria-pressed={feed.following} onClick={() => follow(!feed.following)}>
            {feed.following ? "Following" : "Follow"}
          </button>
          <button type="button" onClick={() => feed.clear()}>Clear</button>
          {openId === null && !isNarrow && <>
            <button type="button" onClick={() => setDialog("columns")}>Columns</button>
            <SaveHAR filter={filter} />
          </>}
          {!isNarrow && <button type="button" aria-label="Keys and filters" onClick={() => setDialog("help")}>?</button>}
        </div>
        {feed.problem !== null && fault === null && <Fault problem={feed.problem} />}
        <FlowTable feed={feed} columns={shown} selected={selected} onOpen={open} grid={grid} />
        {feed.rows === 0 && !feed.isLoading && feed.problem === null && <NoFlows filter={filter} />}
        <Foot feed={feed} follow={() => follow(true)} />
        <p className="hidden" role="status">{selectedFlow === undefined ? "" : spoken(selectedFlow)}</p>
      </section>
      {openId !== null && <Splitter share={share} onChange={setShare} />}
      {openId !== null && <FlowPage id={openId} canReveal={canReveal} close={() => go(address(null, filter))} />}
      {dialog === "help" && <Help onClose={() => setDialog(null)} />}
      {dialog === "columns" && <Columns chosen={chosen} onChange={setChosen} onClose={() => setDialog(null)} />}
    </div>
  )
}

function NoFlows({ filter }: { filter: string }) {
  if (filter !== "") return <Empty title="No flow fits this filter"><p>New ones that fit appear here.</p></Empty>
  return (
    <Empty title="No flows yet">
      <p>Send a request through Usher:</p>
      <Command>{"eval \"$(usher env)\"\ncurl https://example.com/"}</Command>
      <p>or let it run a program:</p>
      <Command>usher run -- npm test</Command>
    </Empty>
  )
}

function Foot({ feed, follow }: { feed: FlowFeed; follow(): void }) {
  const count = feed.rows.toLocaleString()
  const states = { connecting: "connecting…", open: "live", waiting: "not connected; trying again" }
  return (
    <div className="bar flows-foot">
      <span>{count} flows{feed.hasOlder ? ", older ones follow" : ""}</span>
      {feed.held > 0 && <button type="button" className="primary" onClick={follow}>↑ {feed.held.toLocaleString()}{feed.isHeldFull ? " and more" : ""} new</button>}
      {feed.lost > 0 && <span className="warn">{feed.lost.toLocaleString()} came too fast to be shown; a filter helps</span>}
      <span className="grow" />
      <span className={feed.state !== "open" ? "warn" : feed.following ? "ok" : "dim"}>
        ● {feed.following || feed.state !== "open" ? states[feed.state] : "paused"}
      </span>
    </div>
  )
}
