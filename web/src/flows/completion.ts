/** A key of the filter language, as `GET /v1/filter` lists it. One that ends with a dot takes a further name. */
export interface FilterKey {
  key: string
  about: string
  values?: string[]
}

export interface Completion {
  /** The part of the text that a choice replaces. */
  from: number
  to: number
  options: { text: string; about: string }[]
}

const most = 12

/** Where the term at the caret begins: after the last space that no quotes hold. */
function termStart(text: string, caret: number): number {
  let start = 0
  let isQuoted = false
  for (let at = 0; at < caret; at += 1) {
    if (text[at] === "\"") isQuoted = !isQuoted
    else if (text[at] === " " && !isQuoted) start = at + 1
  }
  return start
}

/** What could stand at the caret: a key, or a value of the key before it. */
export function complete(text: string, caret: number, keys: FilterKey[]): Completion {
  const start = termStart(text, caret)
  const term = text.slice(start, caret)
  const equals = term.indexOf("=")
  if (equals < 0) {
    const typed = term.toLowerCase()
    const options = keys
      .filter((key) => key.key.toLowerCase().startsWith(typed) || (typed.length > 1 && key.key.includes(typed)))
      .map((key) => ({ text: key.key.endsWith(".") ? key.key : `${key.key}=`, about: key.about }))
    return { from: start, to: caret, options: options.slice(0, most) }
  }
  const name = term.slice(0, equals).replace(/!$/, "").replace(/^"/, "")
  const key = keys.find((key) => key.key === name)
  const from = start + Math.max(equals, term.lastIndexOf(",")) + 1
  const typed = text.slice(from, caret).toLowerCase()
  const values = (key?.values ?? []).filter((value) => value.toLowerCase().includes(typed) && value.toLowerCase() !== typed)
  return { from, to: caret, options: values.slice(0, most).map((value) => ({ text: value, about: "" })) }
}

/** Whether a text may be a filter: no term waits for its value. */
export function isWhole(text: string): boolean {
  return text.trim().split(/ (?=(?:[^"]*"[^"]*")*[^"]*$)/).every((term) => term === "" || term === "not" || /=./.test(term))
}
