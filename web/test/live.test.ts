import assert from "node:assert/strict"
import { test } from "node:test"
import { page, serve, stream, until } from "./browser"
import { keepToken, loginByKey, needsLink, get } from "../src/api"
import { follow } from "../src/follow"
import { FlowFeed } from "../src/flows/FlowFeed"
import { slim } from "../src/flows/slim"
import { listOf, pending, watch } from "../src/pending/store"
import { during } from "../src/visible"
import type { Flow } from "../src/types"

const flow = (sequence: number) => ({ id: `f${sequence}`, sequence, url: "http://a/" }) as Flow
const json = (value: unknown) => new Response(JSON.stringify(value))
const stepUp = (id: string) => ({ id, callbacks: [] })

test("a stream ends when its tab goes to the background", async () => {
  let open = 0
  serve((_, signal) => {
    open += 1
    signal?.addEventListener("abort", () => { open -= 1 })
    return stream(signal)
  })
  const ended = new AbortController()
  const over = follow("/v1/flows/stream", { onEvent: () => undefined }, during("visible", ended.signal))
  await until(() => open === 1)
  page.show(false)
  assert.equal(await over, null)
  assert.equal(open, 0)
  page.show(true)
})

test("flows that came while a tab was hidden are caught up with, beyond what a stream begins with", async () => {
  const asked: string[] = []
  serve((path, signal) => {
    asked.push(path)
    if (path.startsWith("/v1/flows/stream")) return stream(signal)
    const after = Number(/after=(\d+)/.exec(path)?.[1] ?? 0)
    if (after === 0) return json({ flows: [flow(2), flow(1)], next: null })
    const flows = Array.from({ length: 1000 }, (_, index) => flow(after + 1 + index))
    return json({ flows, next: after < 1000 ? after + 1000 : null })
  })
  const feed = new FlowFeed("")
  feed.start()
  await until(() => feed.state === "open")
  assert.ok(asked.includes("/v1/flows/stream?after=2"))
  page.show(false)
  page.show(true)
  await until(() => asked.includes("/v1/flows/stream?after=2002"))
  assert.equal(feed.rows, 2002)
  assert.equal(feed.row(0)?.sequence, 2002)
  feed.end()
})

test("step-ups: a list without room in the stream is asked for; a hidden tab asks now and then", async () => {
  let streams = 0
  let waiting = ["one"]
  serve((path, signal) => {
    if (path === "/v1/transactions") return json({ transactions: waiting.map(stepUp) })
    streams += 1
    signal?.addEventListener("abort", () => { streams -= 1 })
    return stream(signal, 'event: lost\ndata: {"count":3}', 'event: later\ndata: 7')
  })
  const leave = watch(() => undefined)
  await until(() => pending().isKnown)
  assert.deepEqual(pending().transactions.map((one) => one.id), ["one"])
  assert.equal(streams, 1)
  waiting = ["one", "two"]
  page.show(false)
  await until(() => pending().transactions.length === 2)
  assert.equal(streams, 0)
  page.show(true)
  await until(() => streams === 1)
  leave()
  await until(() => streams === 0)
})

test("what is no list of step-ups is not taken for one", () => {
  for (const odd of [{ count: 3 }, null, 7, { transactions: {} }, { transactions: [null] }, { transactions: [{ id: 1 }] }]) {
    assert.equal(listOf(odd), null)
  }
  assert.equal(listOf({ transactions: [stepUp("a")] })?.length, 1)
})

test("a tab that came by a link never asks for a token, whatever answers at its port", async () => {
  const refuse = (detail: string) => serve(() => new Response(JSON.stringify({ title: "Unauthorized", status: 401, detail }), { status: 401 }))
  refuse("send Authorization: Bearer with admin.token")
  await assert.rejects(get("/v1/status"))
  assert.equal(needsLink(), false)
  serve(() => json({ token: "x" }))
  await loginByKey("key")
  refuse("send Authorization: Bearer with admin.token")
  await assert.rejects(get("/v1/status"))
  assert.equal(needsLink(), true)
  assert.equal(sessionStorage.getItem("usher.token"), null)
  assert.equal(sessionStorage.getItem("usher.entrance"), "link")
  keepToken(null)
})

test("a list keeps the beginning of long texts", () => {
  const long = { ...flow(1), url: `http://a/${"u".repeat(7000)}` }
  assert.equal(slim(long).url.length, 501)
  assert.equal(slim(long).sequence, 1)
  const short = flow(2)
  assert.equal(slim(short), short)
})
