// A running daemon: found by the environment, or started here.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import tls from 'node:tls'

import { Control, UsherError } from './control.js'
import { defined } from './route.js'
import { Usher } from './session.js'

const START_TIMEOUT = 20_000

/** Opens test sessions at one daemon. */
export class Daemon {
  #ca

  constructor(control) {
    this.control = control
  }

  /** The daemon of USHER_SOCKET, or of USHER_URL with USHER_TOKEN; undefined if neither is set. */
  static found(env = process.env) {
    if (env.USHER_SOCKET) return new Daemon(new Control({ socket: env.USHER_SOCKET }))
    if (env.USHER_URL) return new Daemon(new Control({ url: env.USHER_URL, token: env.USHER_TOKEN }))
    return undefined
  }

  /** Opens a session. `overlay` is an object, or the path of a YAML file; ${env.NAME} in it is read here. */
  async session({ name = 'test', overlay, ttl, port } = {}) {
    const body = defined({ name: sessionName(name), overlay, ttl, port })
    if (typeof overlay === 'string') Object.assign(body, { overlay: readFileSync(overlay, 'utf8'), file: overlay })
    const read = [...JSON.stringify(body.overlay ?? '').matchAll(/\$\{env\.([^}]+)\}/g)].map(match => match[1])
    body.variables = defined(Object.fromEntries(read.map(variable => [variable, process.env[variable]])))
    const opened = await this.control.ask('POST', '/v1/sessions', { body })
    this.#ca ??= this.#fetchCA()
    return new Usher(this.control, opened, await this.#ca)
  }

  /** Asks the proxy for its CA, in a session of its own, and puts it behind those of the system. */
  async #fetchCA() {
    const opened = await this.control.ask('POST', '/v1/sessions', { body: { ttl: '1m' } })
    try {
      const authority = await page(opened.proxy, 'http://usher.proxy/ca.pem')
      if (!authority) return undefined
      const folder = temporaryFolder()
      process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
      const file = path.join(folder, 'ca-bundle.pem')
      writeFileSync(file, [...tls.rootCertificates, authority].join('\n'))
      return file
    } finally {
      await this.control.ask('DELETE', `/v1/sessions/${opened.id}`)
    }
  }
}

/** A page of the proxy's own; undefined if there is none. */
function page(proxy, url) {
  const { hostname, port, username, password } = new URL(proxy)
  const key = Buffer.from(`${username}:${password}`).toString('base64')
  return new Promise((resolve, reject) => {
    const headers = { host: new URL(url).host, 'proxy-authorization': `Basic ${key}` }
    http.get({ host: hostname.replace(/^\[|\]$/g, ''), port, path: url, headers, agent: false }, response => {
      const parts = []
      response.on('data', part => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 404) return resolve(undefined)
        if (response.statusCode === 200) return resolve(Buffer.concat(parts).toString())
        reject(new UsherError(`the proxy does not give its CA: ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}

/** A daemon that runs until it is stopped. */
export class ServedDaemon extends Daemon {
  #process
  #folder

  /** Starts `usher serve`. `binary` is the program: by default $USHER_BINARY, else `usher` in the path. */
  static async start(config, { binary = process.env.USHER_BINARY ?? 'usher' } = {}) {
    const folder = temporaryFolder()
    const daemon = new ServedDaemon(new Control({ socket: path.join(folder, 'admin.sock') }))
    daemon.#folder = folder
    try {
      await daemon.#run(binary, config)
    } catch (error) {
      await daemon.stop()
      throw error
    }
    return daemon
  }

  async #run(binary, config) {
    const errors = path.join(this.#folder, 'usher.err')
    const outputs = ['usher.log', 'usher.err'].map(name => openSync(path.join(this.#folder, name), 'w'))
    this.#process = spawn(binary, ['serve', '--config', config, '--listen', '127.0.0.1:0'], {
      stdio: ['ignore', ...outputs], env: { ...process.env, STATE_DIRECTORY: this.#folder, RUNTIME_DIRECTORY: this.#folder }
    })
    outputs.forEach(output => closeSync(output))
    let problem
    this.#process.on('error', error => (problem = `${binary}: ${error.message}; install usher, or set USHER_BINARY`))
    const end = performance.now() + START_TIMEOUT
    for (;;) {
      const isReady = await this.control.ask('GET', '/ready').then(() => true, () => false)
      if (isReady) return
      if (problem || this.#process.exitCode !== null || performance.now() > end) {
        throw new UsherError(problem ?? `usher serve did not start:\n${readFileSync(errors, 'utf8').trim()}`)
      }
      await pause(20)
    }
  }

  get socket() {
    return this.control.socket
  }

  /** Lets requests under way finish, and ends it. */
  async stop() {
    const running = this.#process
    if (running?.pid && running.exitCode === null && running.signalCode === null) {
      const ended = new Promise(resolve => running.once('exit', resolve))
      running.kill('SIGTERM')
      const timer = setTimeout(() => running.kill('SIGKILL'), START_TIMEOUT)
      await ended
      clearTimeout(timer)
    }
    if (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true, force: true })
  }
}

function temporaryFolder() {
  return mkdtempSync(path.join(os.tmpdir(), 'usher-'))
}

/** A name that no other session has, made of that of a test. */
export function sessionName(text) {
  const kept = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-._]+|[-._]+$/g, '').replace(/^s-/, '')
  return `${kept.slice(0, 55) || 'test'}-${randomBytes(4).toString('hex')}`
}
