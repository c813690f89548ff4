import {
  CategoryScale, Chart as Library, Filler, LinearScale, LineController, LineElement, PointElement, Tooltip,
} from "chart.js"
import { useEffect, useRef, useSyncExternalStore } from "react"

Library.register(CategoryScale, Filler, LinearScale, LineController, LineElement, PointElement, Tooltip)

export interface Line {
  label: string
  values: (number | null)[]
  colour: string
  dash?: number[]
}

interface ChartProps {
  title: string
  /** The times on the axis below. */
  times: string[]
  lines: Line[]
  /** How a value is written. */
  written?(value: number): string
  isStacked?: boolean
}

const darkness = window.matchMedia("(prefers-color-scheme: dark)")

/** The theme, anew when the viewer changes it. */
export function useDarkness(): boolean {
  return useSyncExternalStore((changed) => {
    darkness.addEventListener("change", changed)
    return () => darkness.removeEventListener("change", changed)
  }, () => darkness.matches)
}

const variable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** True where no line leads to a value, so that it needs a dot. */
function isAlone(values: (number | null)[], place: number): boolean {
  return (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null
}

/** Lines over time. The same numbers stand in a table beside it, so it is hidden from those who cannot see it. */
export function Chart({ title, times, lines, written = String, isStacked = false }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const chart = useRef<Library<"line", (number | null)[], string> | null>(null)
  const isDark = useDarkness()

  useEffect(() => {
    const [grid, dim, panel, text] = ["--line", "--dim", "--raised", "--text"].map(variable)
    const ticks = { color: dim, font: { size: 11 } }
    const made = new Library<"line", (number | null)[], string>(canvas.current!, {
      type: "line", data: { labels: [], datasets: [] },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
        interaction: { mode: "index", intersect: false },
        scales: {
          x: { grid: { display: false }, ticks: { ...ticks, maxTicksLimit: 7, maxRotation: 0 } },
          y: {
            beginAtZero: true, stacked: isStacked, grid: { color: grid },
            ticks: {
              ...ticks, maxTicksLimit: 5, precision: 0, callback: (value) => written(Number(value)),
            },
          },
        },
        plugins: {
          tooltip: {
            backgroundColor: panel, titleColor: text, bodyColor: text, borderColor: grid, borderWidth: 1,
            filter: ({ parsed }) => parsed.y !== 0, itemSort: (one, other) => other.parsed.y - one.parsed.y,
            callbacks: { label: ({ dataset, parsed }) => `${dataset.label}: ${written(parsed.y)}` },
          },
        },
      },
    })
    chart.current = made
    return () => made.destroy()
  }, [isDark, isStacked, written])

  useEffect(() => {
    const made = chart.current
    if (made === null) return
    made.data.labels = times
    made.data.datasets = lines.map(({ label, values, colour, dash }, place) => ({
      label, data: values, borderColor: colour, backgroundColor: colour.replace(")", " / 40%)"), borderDash: dash,
      borderWidth: 1.5, pointRadius: ({ dataIndex }) => (isAlone(values, dataIndex) ? 2.5 : 0), pointHoverRadius: 3, fill: isStacked && (place === 0 ? "origin" : "-1"),
      cubicInterpolationMode: "monotone", spanGaps: false,
    }))
    made.update()
  }, [times, lines, isDark, isStacked, written])

  return (
    <figure className="panel chart" aria-hidden="true">
      <figcaption>{title}</figcaption>
      <div><canvas ref={canvas} /></div>
    </figure>
  )
}
