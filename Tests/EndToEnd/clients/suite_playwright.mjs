// The fixtures of clients/node/lib/playwright.js with the library of Playwright and a browser, without Playwright's own runner.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { mkdtempSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'

import { toHaveOutcome, usherExpect, usherTest } from '../../../clients/node/lib/playwright.js'

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT)

/** What `base.extend` is given; the runner would resolve the fixtures by the names of their parameters. */
const fixtures = usherTest({ extend: given => given })
const { toHaveOutcome: matcher } = usherExpect({ extend: given => given })

let browser
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] })
})
after(() => browser.close())

/** Runs a body with the fixtures, as the runner does. */
async function run(title, body, overlay) {
  const attached = {}
  const folder = mkdtempSync(path.join(os.tmpdir(), 'playwright-'))
  const testInfo = {
    title, status: 'passed', expectedStatus: 'passed', outputPath: name => path.join(folder, name),
    attach: async (name, { body: text, path: file }) => (attached[name] = text ?? readFileSync(file, 'utf8'))
  }
  const [daemon] = fixtures.usherDaemon
  await daemon({ usherConfig: process.env.USHER_TEST_CONFIG }, usherDaemon =>
    fixtures.usher({ usherDaemon, usherOverlay: overlay }, async usher => {
      let options = {}
      await fixtures.proxy({ usher }, async proxy => (options.proxy = proxy))
      await fixtures.ignoreHTTPSErrors({ usher, ignoreHTTPSErrors: false }, async value => (options.ignoreHTTPSErrors = value))
      const context = await browser.newContext(options)
      try {
        await body(await context.newPage(), usher)
      } catch (error) {
        testInfo.status = 'failed'
        testInfo.error = error
      }
      await context.close()
    }, testInfo))
  return { attached, testInfo }
}

// a page of AM's own host signs in there
const PAGE = `${process.env.AM}/../plain/try#name=demo&password=changeit&ask=/plain/echo`

test('a page signs in by the session of its context', async () => {
  const { testInfo } = await run('a page', async (page, usher) => {
    await page.goto(PAGE)
    const { pass, message } = await matcher(usher.journey({ by: 'app' }), 'succeeded')
    assert.ok(pass, message())
    const [flow] = await usher.flows('path=/plain/echo')
    assert.deepEqual([flow.status, flow.session], [200, usher.id])
  })
  assert.ifError(testInfo.error)
})

test('a page over TLS', async () => {
  const { testInfo } = await run('secure', async (page, usher) => {
    const answer = await page.goto(`${process.env.SECURE}/echo`)
    assert.equal(answer.status(), 200)
    assert.equal((await usher.flows({ scheme: 'https', path: '/plain/echo' })).length, 1)
  })
  assert.ifError(testInfo.error)
})

test('contexts do not disturb each other', async () => {
  const runs = await Promise.all([401, 402, 403].map(status => run(`context ${status}`, async (page, usher) => {
    await usher.route('path=/plain/echo', r => r.respond(status, { text: 'no' }))
    assert.equal((await page.goto(`${process.env.PLAIN}/echo`)).status(), status)
  })))
  for (const { testInfo } of runs) assert.ifError(testInfo.error)
})

test('a failure has its journeys and its traffic attached', async () => {
  const { attached, testInfo } = await run('failing', async (page, usher) => {
    await page.goto(PAGE.replace('changeit', 'wrong'))
    const { pass, message } = await toHaveOutcome.call({ timeout: 3000 }, usher.journey(), 'failed')
    assert.ok(pass, message())
    const missing = await toHaveOutcome.call({ timeout: 100 }, usher.journey(), 'succeeded')
    assert.match(missing.message(), /the login is failed, not succeeded within 100 ms/)
    throw new Error('the app got in')
  })
  assert.equal(testInfo.error.message, 'the app got in')
  assert.match(String(attached['usher-journeys.txt']), /login as demo → failed/)
  assert.ok(JSON.parse(attached['usher.har']).log.entries.length >= 2)
})
