import { useMemo } from "react"
import qrcode from "qrcode-generator"

/**
 * A text as a QR code, or nothing where it is longer than a code can be.
 * It is dark on light in both themes, because some cameras read no other.
 */
export function QRCode({ text, label }: { text: string; label: string }) {
  const code = useMemo(() => modules(text), [text])
  if (code === null) return null
  const { path, size } = code
  return (
    <svg className="qrcode" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

/** The quiet zone that the standard demands, in modules. */
const margin = 4
/** The most bytes that a code of level L has. */
const most = 2953

function modules(text: string): { path: string; size: number } | null {
  if (text.length > most) return null
  const code = qrcode(0, text.length > 500 ? "L" : "M")
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  let path = ""
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      if (code.isDark(row, column)) path += `M${column + margin},${row + margin}h1v1h-1z`
    }
  }
  return { path, size: count + 2 * margin }
}
