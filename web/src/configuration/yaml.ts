// Writes a value of JSON as YAML, as people write a configuration.

/** Texts that YAML would read as something else, or that have a sign of its own in them. */
const odd = /^$|^[\s\-?:,[\]{}#&*!|>'"%@`]|[:#]\s|\s#|:$|\s$|[\u0000-\u001f\u007f]|^(?:true|false|yes|no|on|off|null|~|[-+.\d][\d._eE+-]*)$/i

function scalar(value: unknown): string {
  if (typeof value !== "string") return String(value)
  return odd.test(value) ? JSON.stringify(value) : value
}

const isEmpty = (value: object): boolean => (Array.isArray(value) ? value.length : Object.keys(value).length) === 0

/** Short lists and maps without depth stay on one line, up to this width. */
const width = 80

function short(value: object): string | null {
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  if (inner.some((one) => one !== null && typeof one === "object" && !isEmpty(one))) return null
  const one = (part: unknown) => (typeof part === "string" && /[,[\]{}]/.test(part) ? JSON.stringify(part) : inline(part))
  const text = Array.isArray(value)
    ? `[${value.map(one).join(", ")}]`
    : `{ ${Object.entries(value).map(([key, part]) => `${scalar(key)}: ${one(part)}`).join(", ")} }`
  return text.length <= width ? text : null
}

function inline(value: unknown): string {
  if (value === null || typeof value !== "object") return scalar(value)
  return Array.isArray(value) ? "[]" : "{}"
}

function lines(value: object, indent: string, depth: number): string[] {
  const entries = Array.isArray(value) ? value.map((one) => ["-", one] as const) : Object.entries(value)
  return entries.flatMap(([key, inner]) => {
    const head = key === "-" && Array.isArray(value) ? "-" : `${scalar(key)}:`
    if (inner === null || typeof inner !== "object" || isEmpty(inner)) return [`${indent}${head} ${inline(inner)}`]
    const brief = depth > 0 ? short(inner) : null
    if (brief !== null) return [`${indent}${head} ${brief}`]
    const below = lines(inner, indent + "  ", depth + 1)
    // an entry of a list begins on the line of its dash
    if (head === "-") return [`${indent}- ${below[0]!.trimStart()}`, ...below.slice(1)]
    return [`${indent}${head}`, ...below]
  })
}

/** `yaml({a: [1, {b: null}]})` */
export function yaml(value: unknown): string {
  if (value === null || typeof value !== "object" || isEmpty(value)) return inline(value) + "\n"
  return lines(value, "", 0).join("\n") + "\n"
}
