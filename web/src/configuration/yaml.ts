// Writes a value of JSON as YAML, as people write a configuration.

/** Texts that need no quotes: they begin with a letter or a slash, or are an address, a size or a time. */
const plain = /^(?:[a-z/][\w ./:*@+%~?#=&$!;\\-]*|\d+\.\d+\.\d+\.\d+(?:[:/]\d+)?|\d+(?:ms|[smhdB]|[KMG]iB|xx))$/i
/** What YAML reads as something else: truths, nothing, keys, comments, spaces at the end. */
const odd = /^(?:true|false|yes|no|y|n|on|off|null)$|: |:$| #| $/i

/** A text in quotes; what YAML takes for the end of a line is escaped, too. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (letter) =>
    `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return String(value)
  return plain.test(value) && !odd.test(value) ? value : quoted(value)
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0

/** A value without depth. */
function leaf(value: unknown): string {
  if (value === null || typeof value !== "object") return scalar(value)
  return Array.isArray(value) ? "[]" : "{}"
}

/** The same within brackets, where a question mark has a meaning, too. */
const bracketed = (value: unknown): string =>
  (typeof value === "string" && value.includes("?") ? quoted(value) : leaf(value))

/** Lists and maps without depth stay on one line, up to this width. */
const width = 80

function short(value: object): string | null {
  if (Object.values(value).some((one) => one !== null && typeof one === "object" && !isEmpty(one))) return null
  const text = Array.isArray(value)
    ? `[${value.map(bracketed).join(", ")}]`
    : `{ ${Object.entries(value).map(([key, inner]) => `${bracketed(key)}: ${bracketed(inner)}`).join(", ")} }`
  return text.length <= width ? text : null
}

function lines(value: object, indent: string, depth: number): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const head = Array.isArray(value) ? "-" : `${scalar(key)}:`
    if (inner === null || typeof inner !== "object" || isEmpty(inner)) return [`${indent}${head} ${leaf(inner)}`]
    const brief = depth > 0 ? short(inner) : null
    if (brief !== null) return [`${indent}${head} ${brief}`]
    const below = lines(inner, indent + "  ", depth + 1)
    // an entry of a list begins on the line of its dash
    if (head === "-") return [`${indent}- ${below[0]!.trimStart()}`, ...below.slice(1)]
    return [`${indent}${head}`, ...below]
  })
}

/** `yaml({ a: [1, { b: null }] })` */
export function yaml(value: unknown): string {
  if (value === null || typeof value !== "object" || isEmpty(value)) return leaf(value) + "\n"
  return lines(value, "", 0).join("\n") + "\n"
}
