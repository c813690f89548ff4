// Tests of an app, as a user of clients/node writes them; test_node_client runs them.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import http from 'node:http'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { Daemon, NotSeen, ServedDaemon, Unmet, UsherError } from '../../../clients/node/lib/index.js'

const { SHOP, AM, PLAIN, SECURE, USHER_TEST_CONFIG } = process.env
const LOGIN = `${AM}/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login`
const ASK = { authorization: { answers: [{ callback: 'NameCallback', ask: true }, { callback: 'PasswordCallback', ask: true }] } }

let daemon
before(async () => (daemon = Daemon.found() ?? (await ServedDaemon.start(USHER_TEST_CONFIG))))
after(() => daemon.stop?.())

/** A test with a session of its own. */
function usherTest(name, options, body) {
  test(name, async () => {
    const usher = await daemon.session({ name, ...options })
    try {
      await body(usher)
    } finally {
      await usher.close()
    }
  })
}

/** One request of an app through the session's proxy. */
function ask(usher, url, { method = 'GET', headers = {}, body } = {}) {
  const { hostname, port, username, password } = new URL(usher.proxyURL)
  const key = Buffer.from(`${username}:${password}`).toString('base64')
  return new Promise((resolve, reject) => {
    const fields = { host: new URL(url).host, 'proxy-authorization': `Basic ${key}`, ...headers }
    const request = http.request({ host: hostname, port, path: url, method, headers: fields, agent: false }, response => {
      let text = ''
      response.on('data', part => (text += part))
      response.on('end', () => resolve({ status: response.statusCode, text, json: () => JSON.parse(text) }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function signIn(usher, user = 'demo', password = 'changeit') {
  const headers = { 'content-type': 'application/json', 'accept-api-version': 'protocol=1.0,resource=2.1' }
  let answer = await ask(usher, LOGIN, { method: 'POST', headers })
  while (answer.status === 200 && answer.json().authId) {
    const step = answer.json()
    for (const callback of step.callbacks) callback.input[0].value = callback.type === 'NameCallback' ? user : password
    answer = await ask(usher, LOGIN, { method: 'POST', headers, body: JSON.stringify(step) })
  }
  return answer
}

test('sessions beside each other', async () => {
  await Promise.all([...Array(12).keys()].map(async number => {
    const usher = await daemon.session({ name: `beside ${number}` })
    await usher.route('path=/plain/echo', r => r.respond(400 + number, { times: 2 }))
    const got = []
    for (let count = 0; count < 4; count++) got.push((await ask(usher, `${PLAIN}/echo`)).status)
    assert.deepEqual(got, [400 + number, 400 + number, 200, 200])
    const flows = await usher.flows({ path: '/plain/echo' }, { atLeast: 4 })
    assert.deepEqual(flows.map(flow => flow.status).sort(), [200, 200, 400 + number, 400 + number])
    assert.ok((await usher.flows()).every(flow => flow.session === usher.id))
    await usher.close()
  }))
})

usherTest('busy AM', {}, async usher => {
  await usher.route({ action: 'AUTHENTICATE', by: 'app' }, r => r.respond(429, { json: { code: 429 }, times: 1 }))
  assert.equal((await signIn(usher)).status, 429)
  assert.ok((await signIn(usher)).json().tokenId)
  const { journey, steps } = await usher.journey().get({ outcome: 'succeeded' })
  assert.deepEqual([journey.login, steps.length], ['demo', 2])
  assert.match(await usher.summary(), /Login as demo → succeeded[^]*NameCallback “User Name”: demo/)
  const har = await usher.har()
  assert.equal(har.log.entries.length, (await usher.flows('calls=yes')).length)
})

usherTest('a fault by name', {}, async usher => {
  await usher.fault('am-account-locked', { times: 1 })
  assert.deepEqual([(await signIn(usher)).status, (await signIn(usher)).status], [401, 200])
  await assert.rejects(usher.fault('am-acount-locked'), /did you mean .?am-account-locked/)
})

usherTest('expectations', {}, async usher => {
  await usher.expect('path=/plain/echo', { count: 1, name: 'one echo' })
  await usher.expect({ status: '5xx' }, { count: 'never' })
  await ask(usher, `${PLAIN}/echo`)
  await usher.verify()
  await ask(usher, `${PLAIN}/echo`)
  await assert.rejects(usher.verify(), error => error instanceof Unmet && /1 of 2 expectations unmet\nunmet: one echo: /.test(error.message))
})

for (const user of ['user1', 'user2']) {
  usherTest(`step-up of ${user}`, { overlay: ASK }, async usher => {
    await usher.expect(`path=/shop/${user}`, { count: 1, step_up: true })
    const token = (await signIn(usher, user)).json().tokenId
    const answer = ask(usher, `${SHOP}/${user}`, { headers: { cookie: `iPlanetDirectoryPro=${token}` } })
    const waiting = await usher.pending()
    assert.ok(waiting.transaction.resource.endsWith(user))
    await assert.rejects(waiting.answer(['a', 'b', 'c']), /3 answers for 2 callbacks/)
    await waiting.answer({ name: user, password: 'changeit' })
    assert.deepEqual([(await answer).status, (await answer).json().user], [200, user])
    assert.equal((await usher.flows({ path: `/shop/${user}`, step_up: true })).length, 1)
    await usher.verify()
  })
}

usherTest('an overlay file, a port and rules that come and go', { overlay: process.env.OVERLAY, port: true, ttl: '2m' }, async usher => {
  assert.equal((await ask({ proxyURL: usher.portURL }, `${PLAIN}/x`)).text, 'of the environment')
  const name = await usher.route({ path: '/plain/x' }, r => r.delay('1ms').respond(503))
  assert.equal((await ask(usher, `${PLAIN}/x`)).status, 503)
  await usher.unroute(name)
  assert.equal((await ask(usher, `${PLAIN}/x`)).status, 410)
})

usherTest('what goes wrong is said', {}, async usher => {
  await ask(usher, `${PLAIN}/echo`)
  await assert.rejects(usher.flows('path=/elsewhere', { timeout: 200 }), error =>
    error instanceof NotSeen && /path=\/elsewhere; the session has\n.*\/plain\/echo/.test(error.message))
  await assert.rejects(usher.route({ pth: '/x' }, r => r.respond(500)), error =>
    error instanceof UsherError && error.status === 422 && /did you mean "path"\?/.test(error.message))
  await assert.rejects(usher.route('path=/x', r => r.respond(500, { time: 2 })), /unknown option time/)
  await assert.rejects(usher.journey().get({ timeout: 100 }), /no login matches within 100 ms/)
})

usherTest('undici, and a program with the environment', {}, async usher => {
  const undici = createRequire(import.meta.url)('undici')
  const dispatcher = await usher.undici()
  const answer = await undici.fetch(`${SECURE}/echo?by=undici`, { dispatcher })
  assert.equal(answer.status, 200)
  await dispatcher.close()
  await promisify(execFile)('curl', ['-sSf', `${SECURE}/echo?by=curl`], { env: usher.env })
  assert.equal((await usher.flows({ path: '/plain/echo', scheme: 'https' }, { atLeast: 2 })).length, 2)
})
