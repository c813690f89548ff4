// Conditions and filters, written as text or as objects.

/** The keys of `when` that take a name after a dot, as in `header.X-Name=value`. */
const NAMED = ['header', 'query', 'cookie', 'json', 'form', 'response_json']

/**
 * The map under `when`: of `action=AUTHENTICATE by=app`, or of such an object.
 * `key!=value` excludes; commas separate alternatives, except in a regular expression.
 */
export function when(condition = {}) {
  if (typeof condition !== 'string') return condition
  const made = {}
  const refused = []
  for (const term of condition.split(/\s+/).filter(Boolean)) {
    const [, key, not, value] = /^([^=!]+)(!?)=(.*)$/s.exec(term) ?? []
    if (!key) throw new TypeError(`"${term}" is not a condition; write key=value, as in action=AUTHENTICATE`)
    set(key, value, not ? (refused[refused.push({}) - 1]) : made)
  }
  if (refused.length) made.not = refused.length === 1 ? refused[0] : { any: refused }
  return made
}

function set(key, text, into) {
  const parts = text.startsWith('~') ? [text] : text.split(',')
  const value = parts.length === 1 ? parts[0] : parts
  const dot = key.indexOf('.')
  const group = key.slice(0, dot)
  if (dot < 0 || !NAMED.includes(group)) {
    into[key] = value
    return
  }
  const name = key.slice(dot + 1)
  into[group] = { ...into[group], [group.endsWith('json') && !name.startsWith('/') ? `/${name}` : name]: value }
}

/** The parameters `filter` of a request for flows or journeys, of a text, a list of texts or an object. */
export function filters(given = []) {
  if (typeof given === 'string') return [['filter', given]]
  if (Array.isArray(given)) return given.map(term => ['filter', term])
  return Object.entries(given).map(([key, value]) => ['filter', `${key}=${text(value)}`])
}

function text(value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.map(text).join(',') : String(value)
}
