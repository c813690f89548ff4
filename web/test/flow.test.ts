import assert from "node:assert/strict"
import { test } from "node:test"
import { cookiesOf, formOf, headersOf, hex, jsonOf, pretty, queryOf, withLineEnds } from "../src/flow/body"
import { changedBy, editsOf } from "../src/flow/changes"
import { decode } from "../src/flow/decode"
import { diff } from "../src/flow/diff"
import { steadyLines } from "../src/journeys/words"
import type { FlowDetail, JourneyDetail } from "../src/types"

test("a changed field stands beside what it was", () => {
  assert.deepEqual(diff(["a: 1", "cookie: x", "b: 2"], ["a: 1", "b: 2", "Cookie: y", "c: 3"]), [
    { before: "a: 1", after: "a: 1" }, { before: "cookie: x", after: null }, { before: "b: 2", after: "b: 2" },
    { before: null, after: "Cookie: y" }, { before: null, after: "c: 3" },
  ])
  assert.deepEqual(diff(["cookie: x"], ["Cookie: y"]), [{ before: "cookie: x", after: "Cookie: y" }])
})

test("very long texts are compared without aligning them", () => {
  const long = (prefix: string) => Array.from({ length: 2000 }, (_, index) => `${prefix}${index}`)
  assert.equal(diff(long("a"), long("b")).length, 2000)
})

test("a change is its interceptor's, by the words of the event", () => {
  const event = (interceptor: string, text: string, phase = "request") =>
    ({ at_ms: 0, event: "interceptor", text: `${interceptor}: ${text}`, interceptor, phase, did: "applied" }) as FlowDetail["events"][number]
  const edits = editsOf([
    event("one", "set query ForceAuth, added header Accept-Language"), event("two", "set cookie member"),
    event("three", "set header Accept-Language", "response"),
  ], "request")
  const by = (before: string | null, after: string | null, kind: "first" | "field" | "body") => changedBy({ before, after }, kind, edits)
  assert.deepEqual(by("GET /a", "GET /a?ForceAuth=true", "first"), ["one"])
  assert.deepEqual(by(null, "Accept-Language: en", "field"), ["one"])
  assert.deepEqual(by("cookie: a=1", "cookie: a=1; member=gold", "field"), ["two"])
  assert.deepEqual(by("x: 1", "x: 2", "field"), [])
  assert.deepEqual(by("x: 1", "x: 1", "field"), [])
})

test("what the replay of a step-up added is the step-up's", () => {
  const edits = editsOf([{ at_ms: 1, event: "replay", text: "GET … is sent again" }], "request")
  assert.deepEqual(changedBy({ before: "GET /a", after: "GET /a?_txid=transaction#1" }, "first", edits), ["step-up"])
})

test("a JWT and an advice are decoded, other words are not", () => {
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const jwt = `${base64({ alg: "none" })}.${base64({ sub: "démo" })}.`
  assert.deepEqual(decode(`Bearer ${jwt}`, "request: authorization"), [{
    place: "request: authorization", kind: "JWT",
    parts: [{ name: "header", value: { alg: "none" } }, { name: "claims", value: { sub: "démo" } }],
  }])
  const advice = decode(`SSOADVICE realm="/",advices="${base64({ AuthLevel: [3] })}"`, "response")
  assert.deepEqual(advice[0]?.parts, [{ name: "content", value: { AuthLevel: [3] } }])
  assert.deepEqual(decode("MTIzNDU2Nzg5MDEy application/json charset", "here"), [])
})

test("JSON that is nested too deep stays text", () => {
  const deep = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`
  assert.equal(jsonOf(deep), undefined)
  assert.equal(pretty({ bytes: deep.length, cut: false, text: deep }), deep)
  assert.deepEqual(decode(`x ${Buffer.from(deep).toString("base64")}`, "body"), [])
  assert.deepEqual(jsonOf(`["${"[".repeat(99)}\\"${"[".repeat(99)}"]`), [`${"[".repeat(99)}"${"[".repeat(99)}`])
  assert.equal(Array.isArray(jsonOf(`${"[".repeat(60)}1${"]".repeat(60)}`)), true)
})

test("an edited body keeps its line ends", () => {
  assert.equal(withLineEnds("--b\nx\n", "--b\r\n\r\n"), "--b\r\nx\r\n")
  assert.equal(withLineEnds("a\nb", "a\nc"), "a\nb")
  assert.equal(withLineEnds("a\nb", "a\r\nc\n"), "a\nb")
  assert.equal(withLineEnds("a\nb", "a\r\nc\r"), "a\nb")
})

test("parts of messages", () => {
  assert.deepEqual(queryOf("https://a/b?x=1&code=code#1"), [{ name: "x", value: "1" }, { name: "code", value: "code#1" }])
  const fields = [{ name: "Cookie", value: "a=1; b" }, { name: "Set-Cookie", value: "c=2; Path=/; Secure" }]
  assert.deepEqual(cookiesOf(fields).map((one) => [one.name, one.value, one.attributes]), [["a", "1", ""], ["b", "", ""], ["c", "2", "Path=/; Secure"]])
  const form = { fields: [{ name: "content-type", value: "application/x-www-form-urlencoded;charset=UTF-8" }], body: { bytes: 7, cut: false, text: "a=b%20c" } }
  assert.deepEqual(formOf(form), [{ name: "a", value: "b c" }])
  assert.equal(hex(Uint8Array.of(0x47, 0)), `00000000  47 00${" ".repeat(42)}  G·`)
  assert.deepEqual(headersOf("A: b\n\nC:d "), [["A", "b"], ["C", "d"]])
  assert.equal(headersOf("nonsense"), null)
})

test("journeys that differ in aliases and times alone are alike", () => {
  const journey = (alias: string, at: number) => ({
    journey: { realm: "/", tree: "Login", type: "service", login: "demo", outcome: "succeeded", reason: null, ended_by: null, by: "app" },
    steps: [{
      flow: `f${at}`, action: "AUTHENTICATE", at_ms: at, status: 200, ending: "succeeds", reason: null, repeated: false, stage: null,
      header: null, callbacks: [{ type: "PasswordCallback", prompt: "Password", answer: alias, choices: [] }],
    }],
    calls: [], tokens: [{ kind: "session", alias: `session#${at}`, flow: "f", at_ms: at }], resources: [], from: null,
  }) as unknown as JourneyDetail
  assert.deepEqual(steadyLines(journey("password#1", 5)), steadyLines(journey("password#8", 9)))
  assert.notDeepEqual(steadyLines(journey("password#1", 5)), steadyLines(journey("other", 5)))
})
