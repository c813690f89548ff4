/** A row of two texts side by side; null where a side has nothing. */
export interface DiffRow {
  before: string | null
  after: string | null
}

/** Beyond this product of lines a comparison would take too long. */
const most = 1_500_000

/** Lines of two texts, aligned: what is the same stands beside itself, what was replaced beside its replacement. */
export function diff(before: string[], after: string[]): DiffRow[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (end < before.length - start && end < after.length - start
    && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  const same = (line: string): DiffRow => ({ before: line, after: line })
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

function middle(before: string[], after: string[]): DiffRow[] {
  const [rows, columns] = [before.length, after.length]
  if (rows * columns > most) return pair(before, after)
  // the longest common sequence of what is left of both, from the end
  const width = columns + 1
  const lengths = new Uint16Array((rows + 1) * width)
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = before[row] === after[column]
        ? lengths[(row + 1) * width + column + 1]! + 1
        : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!)
    }
  }
  const out: DiffRow[] = []
  let [row, column] = [0, 0]
  let [removed, added]: [string[], string[]] = [[], []]
  const flush = () => {
    out.push(...pair(removed, added))
    removed = []
    added = []
  }
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      flush()
      out.push({ before: before[row]!, after: after[column]! })
      row += 1
      column += 1
    } else if (column >= columns || (row < rows && lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!)) {
      removed.push(before[row]!)
      row += 1
    } else {
      added.push(after[column]!)
      column += 1
    }
  }
  flush()
  return out
}

/** What was removed beside what was added; lines of the same field stand beside each other. */
function pair(removed: string[], added: string[]): DiffRow[] {
  const name = (line: string) => /^([!#$%&'*+.^_`|~\w-]+):/.exec(line)?.[1]?.toLowerCase() ?? null
  const rest = [...added]
  const rows: DiffRow[] = []
  for (const line of removed) {
    const index = rest.findIndex((other) => name(other) === name(line))
    rows.push({ before: line, after: index < 0 ? null : rest.splice(index, 1)[0]! })
  }
  return [...rows, ...rest.map((line) => ({ before: null, after: line }))]
}
