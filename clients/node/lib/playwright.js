// Playwright: a test session for each test's context.


import { UsherError } from './control.js'
import { Daemon, ServedDaemon } from './daemon.js'
import { NotSeen } from './errors.js'
import { JourneyQuery } from './session.js'

/**
 * The user's `test` with the fixture `usher`, and with contexts that go through its session.
 * Options in `use`: `usherConfig` (a configuration to start a daemon with, unless the environment names one), `usherOverlay`.
 */
export function usherTest(base) {
  return base.extend({
    usherConfig: [undefined, { option: true, scope: 'worker' }],
    usherOverlay: [undefined, { option: true }],
    usherDaemon: [daemon, { scope: 'worker' }],
    usher: session,
    proxy: async ({ usher }, use) => use(usher.proxy),
    // browsers of Playwright do not know Usher's CA
    ignoreHTTPSErrors: async ({ usher, ignoreHTTPSErrors }, use) => use(ignoreHTTPSErrors || usher.caFile !== undefined)
  })
}

async function daemon({ usherConfig }, use) {
  const found = Daemon.found()
  if (found) return use(found)
  if (!usherConfig) {
    throw new UsherError(
      'there is no usher to test with: run the tests by usher run, set USHER_SOCKET or USHER_URL and USHER_TOKEN, or set usherConfig')
  }
  const served = await ServedDaemon.start(usherConfig)
  try {
    await use(served)
  } finally {
    await served.stop()
  }
}

async function session({ usherDaemon, usherOverlay }, use, testInfo) {
  const usher = await usherDaemon.session({ name: testInfo.title, overlay: usherOverlay, port: true })
  try {
    await use(usher)
    if (testInfo.status === testInfo.expectedStatus) await usher.verify()
  } catch (error) {
    await attach(usher, testInfo)
    throw error
  } finally {
    if (testInfo.status !== testInfo.expectedStatus) await attach(usher, testInfo)
    await usher.close()
  }
}

/** Attaches the session's journeys and its traffic. */
async function attach(usher, testInfo) {
  await testInfo.attach('usher-journeys.txt', { body: await usher.summary(), contentType: 'text/plain' })
  const har = testInfo.outputPath('usher.har')
  await usher.writeHAR(har)
  await testInfo.attach('usher.har', { path: har, contentType: 'application/json' })
}

/** The user's `expect` with `toHaveOutcome`, which waits for a login to end: `expect(usher.journey()).toHaveOutcome('succeeded')`. */
export function usherExpect(base) {
  return base.extend({ toHaveOutcome })
}

export async function toHaveOutcome(journey, outcome, { timeout = this?.timeout ?? 5000 } = {}) {
  if (!(journey instanceof JourneyQuery)) throw new TypeError('toHaveOutcome takes usher.journey()')
  try {
    await journey.get({ outcome, timeout })
    return { pass: true, message: () => `the login is ${outcome}` }
  } catch (error) {
    if (!(error instanceof NotSeen)) throw error
    return { pass: false, message: () => error.message }
  }
}
