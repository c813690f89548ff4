type Change = { kind: "same" | "added" | "removed"; text: string }

/** The lines that two texts share, and those that only one has: the longest common sequence. */
export function difference(before: string[], after: string[]): Change[] {
  const [rows, columns] = [before.length, after.length]
  const longest = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      longest[row]![column] = before[row] === after[column]
        ? longest[row + 1]![column + 1]! + 1
        : Math.max(longest[row + 1]![column]!, longest[row]![column + 1]!)
    }
  }
  const changes: Change[] = []
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      changes.push({ kind: "same", text: before[row]! })
      row++
      column++
    } else if (row < rows && (column === columns || longest[row + 1]![column]! >= longest[row]![column + 1]!)) {
      changes.push({ kind: "removed", text: before[row++]! })
    } else {
      changes.push({ kind: "added", text: after[column++]! })
    }
  }
  return changes
}

/** More lines are not compared: that would take too long. */
const most = 1000

const signs = { same: " ", added: "+", removed: "-" }

/** Two messages as one text, with what changed. */
export function LineDiff({ before, after, label }: { before: string[]; after: string[]; label: string }) {
  const changes = difference(before.slice(0, most), after.slice(0, most))
  return (
    <pre className="diff" role="region" aria-label={label} tabIndex={0}>
      {changes.map(({ kind, text }, place) => (
        <span key={place} className={kind}>{signs[kind]} {text}{"\n"}</span>
      ))}
      {Math.max(before.length, after.length) > most && <span className="dim">…</span>}
    </pre>
  )
}
