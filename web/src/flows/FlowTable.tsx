import { memo, useEffect, useLayoutEffect, useRef, useState, type CSSProperties, type RefObject } from "react"
import { flushSync } from "react-dom"
import { duration } from "../parts/Time"
import type { Flow } from "../types"
import type { Column } from "./columns"
import type { FlowFeed } from "./FlowFeed"

export const rowHeight = 24
/** Rows beyond both edges, so that a fast scroll shows no gap. */
const spare = 8

interface RowProps {
  flow: Flow
  columns: Column[]
  row: number
  isSelected: boolean
  onOpen(row: number): void
}

const Row = memo(function Row({ flow, columns, row, isSelected, onOpen }: RowProps) {
  return (
    <div
      role="row" id={`flow-${flow.id}`} aria-rowindex={row + 2} aria-selected={isSelected} className="grid-row"
      onClick={() => onOpen(row)}
    >
      {columns.map((column) => (
        <span key={column.id} role="gridcell" className={column.isNumber ? "number" : undefined}>{column.show(flow)}</span>
      ))}
    </div>
  )
})

interface FlowTableProps {
  feed: FlowFeed
  columns: Column[]
  /** The row under the cursor; null without one. */
  selected: number | null
  onOpen(row: number): void
  grid: RefObject<HTMLDivElement>
}

/** All flows as a grid of which only the rows in sight exist. */
export function FlowTable({ feed, columns, selected, onOpen, grid }: FlowTableProps) {
  /** The row at the upper edge. */
  const [edge, setEdge] = useState(0)
  const [height, setHeight] = useState(800)
  const open = useRef(onOpen)
  open.current = onOpen
  const [stable] = useState(() => (row: number) => open.current(row))

  useLayoutEffect(() => {
    const element = grid.current
    if (element === null) return
    const measured = new ResizeObserver(() => setHeight(element.clientHeight))
    measured.observe(element)
    return () => measured.disconnect()
  }, [grid])

  const rows = feed.rows
  const first = Math.max(0, Math.min(edge - spare, rows - 1))
  const last = Math.min(rows, edge + Math.ceil(height / rowHeight) + spare)

  const scrolled = () => {
    const element = grid.current
    if (element === null) return
    // before this frame is painted: rows that come later flicker
    flushSync(() => setEdge(Math.floor(element.scrollTop / rowHeight)))
    if (element.scrollTop > rowHeight) feed.setFollowing(false)
  }
  useEffect(() => {
    if (rows > 0 && last >= rows - 50) void feed.loadOlder()
  }, [feed, last, rows])

  // another filter's list begins at its newest
  useLayoutEffect(() => {
    grid.current?.scrollTo({ top: 0 })
  }, [feed, grid])

  const template = { "--columns": columns.map((column) => column.width).join(" ") } as CSSProperties
  const shown = []
  for (let row = first; row < last; row += 1) {
    const flow = feed.row(row)
    if (flow !== undefined) {
      shown.push(
        <Row key={row} flow={flow} columns={columns} row={row} isSelected={row === selected} onOpen={stable} />)
    }
  }
  const current = selected === null ? undefined : feed.row(selected)
  return (
    <div
      ref={grid} role="grid" className="grid" style={template} tabIndex={0} aria-label="Flows" aria-rowcount={rows + 1} onScroll={scrolled}
      aria-activedescendant={current && selected! >= first && selected! < last ? `flow-${current.id}` : undefined}
    >
      <div role="rowgroup" className="grid-head">
        <div role="row" aria-rowindex={1} className="grid-row">
          {columns.map((column) => (
            <span key={column.id} role="columnheader" className={column.isNumber ? "number" : undefined}>{column.title}</span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="grid-body" style={{ height: rows * rowHeight }}>
        <div role="presentation" className="grid-window" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {shown}
        </div>
      </div>
    </div>
  )
}

/** Scrolls so that a row is in sight. */
export function showRow(grid: HTMLDivElement | null, row: number): void {
  if (grid === null) return
  const head = rowHeight
  const top = row * rowHeight
  if (top < grid.scrollTop) grid.scrollTop = top
  else if (top + rowHeight > grid.scrollTop + grid.clientHeight - head) {
    grid.scrollTop = top + rowHeight - grid.clientHeight + head
  }
}

/** What a row says, for people who do not see the grid. */
export const spoken = (flow: Flow): string =>
  `${flow.method} ${flow.url}, ${flow.status ?? flow.error ?? "no response"}, ${duration(flow.duration_ms)}`
