import assert from "node:assert/strict"
import { test } from "node:test"
import { EventReader } from "../src/events"
import { complete, isWhole } from "../src/flows/completion"
import { FlowRing } from "../src/flows/FlowRing"
import type { Flow } from "../src/types"

const flow = (id: string) => ({ id }) as Flow
const keys = [
  { key: "action", about: "the Action", values: ["AUTHENTICATE", "START_AUTHENTICATE", "LOGOUT"] },
  { key: "header.", about: "a field" }, { key: "status", about: "the status" },
]

test("the oldest makes room, and indices stay", () => {
  const ring = new FlowRing(3)
  for (const id of ["a", "b", "c", "d"]) ring.push(flow(id))
  assert.equal(ring.count, 3)
  assert.equal(ring.at(0), undefined)
  assert.equal(ring.at(3)?.id, "d")
  assert.equal(ring.indexOf("b"), 1)
})

test("older flows get lower indices, as far as there is room", () => {
  const ring = new FlowRing(3)
  ring.push(flow("c"))
  ring.addOlder([flow("b"), flow("a"), flow("none")])
  assert.deepEqual([-2, -1, 0].map((index) => ring.at(index)?.id), ["a", "b", "c"])
  assert.equal(ring.isFull, true)
})

test("a cleared ring goes on counting", () => {
  const ring = new FlowRing(3)
  ring.push(flow("a"))
  ring.clear()
  ring.push(flow("b"))
  assert.equal(ring.at(0), undefined)
  assert.equal(ring.at(1)?.id, "b")
})

test("a key is completed, and a value after the last comma", () => {
  assert.deepEqual(complete("status=4xx ac", 13, keys), { from: 11, to: 13, options: [{ text: "action=", about: "the Action" }] })
  const values = complete("action=LOGOUT,auth", 18, keys)
  assert.equal(values.from, 14)
  assert.deepEqual(values.options.map((option) => option.text), ["AUTHENTICATE", "START_AUTHENTICATE"])
})

test("a key for a name waits for the name, and a negation is no other key", () => {
  assert.equal(complete("hea", 3, keys).options[0]?.text, "header.")
  assert.equal(complete("action!=LOG", 11, keys).options[0]?.text, "LOGOUT")
})

test("a space in quotes ends no term", () => {
  assert.equal(complete("\"tree=a ac", 10, keys).options.length, 0)
})

test("what waits for its value is no filter yet", () => {
  assert.equal(isWhole("not status=2xx path=/a"), true)
  assert.equal(isWhole("status=2xx pa"), false)
  assert.equal(isWhole("status="), false)
  assert.equal(isWhole("\"tree=My login\""), true)
})

test("events come whole, however the bytes come", () => {
  const bytes = new TextEncoder().encode(":\n\nevent: flow\nid: 7\ndata: {\"id\":\"é\"}\n\nevent: lost\ndata: {\"count\":2}\n\n")
  const events: unknown[] = []
  const reader = new EventReader((name, data, id) => events.push([name, data, id]))
  for (const byte of bytes) reader.read(Uint8Array.of(byte))
  assert.deepEqual(events, [["flow", { id: "é" }, "7"], ["lost", { count: 2 }, null]])
})
