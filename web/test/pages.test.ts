import assert from "node:assert/strict"
import { test } from "node:test"
import { yaml } from "../src/configuration/yaml"
import { series, totals, type Rates } from "../src/overview/rates"
import { minutes } from "../src/pending/Countdown"
import { tar } from "../src/sessions/tar"

test("a configuration is written as people write it", () => {
  const value = { version: 1, listen: ["127.0.0.1:3128"], am: [{ url: "https://am/am", realms: ["/", "/alpha"] }], tokens: [] }
  assert.equal(yaml(value), [
    "version: 1", "listen:", "  - 127.0.0.1:3128", "am:", "  - url: https://am/am", "    realms: [/, /alpha]", "tokens: []", "",
  ].join("\n"))
})

test("a text that YAML reads as something else has quotes", () => {
  for (const text of ["", "no", "1.2", "1e3", "*", "a: b", "a #b", "x:", " a", "a ", "- a", "2026-11-27", "a\nb", "{a", "~"]) {
    assert.equal(yaml([text]), `- ${JSON.stringify(text)}\n`)
  }
  assert.equal(yaml(["a\u0085\u2028"]), '- "a\\u0085\\u2028"\n')
  assert.equal(yaml({ a: { b: ["a?b", "c,d"] } }), 'a:\n  b: ["a?b", "c,d"]\n')
})

test("the totals of an hour are sums, and the slowest minute of the times", () => {
  const rate = (action: string, requests: number, p95_ms: number) =>
    ({ action, requests, errors: 1, step_ups: 0, p50_ms: 1, p95_ms, p99_ms: 9 })
  const rates: Rates = {
    interval_s: 60, points: [
      { at: "2026-11-27T21:00:00Z", actions: [rate("", 1, 5), rate("LOGOUT", 2, 7)] },
      { at: "2026-11-27T21:01:00Z", actions: [rate("LOGOUT", 3, 6)] },
    ],
  }
  assert.deepEqual(totals(rates).map(({ action, requests, errors, p95_ms }) => [action, requests, errors, p95_ms]),
    [["LOGOUT", 5, 2, 7], ["", 1, 1, 5]])
  assert.deepEqual(series(rates, "", "requests"), [1, 0])
  assert.deepEqual(series(rates, "", "p95_ms"), [5, null])
})

test("an archive has whole blocks, and a sum that tar accepts", async () => {
  const bytes = new Uint8Array(await tar([{ name: "a/recording.yaml", bytes: new TextEncoder().encode("version: 1\n") }]).arrayBuffer())
  assert.equal(bytes.length, 4 * 512)
  const head = bytes.slice(0, 512)
  const text = (from: number, to: number) => new TextDecoder().decode(head.slice(from, to))
  const sum = head.reduce((sum, byte, place) => sum + (place >= 148 && place < 156 ? 32 : byte), 0)
  assert.equal(parseInt(text(148, 154), 8), sum)
  assert.equal(parseInt(text(124, 135), 8), 11)
  assert.equal(text(257, 262), "ustar")
})

test("the time left is minutes and seconds", () => {
  assert.deepEqual([291_000, 59_001, 0, -5, 3_661_000].map(minutes), ["4:51", "1:00", "0:00", "0:00", "1:01:01"])
})
