#!/usr/bin/env node
// Runs a module for Usher: middleware of the JavaScript SDK, interceptors in the manner of CDTDatastore, or handlers.
//   script: { run: [node, usher-middleware.js, middleware.mjs], needs: body }
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { cdt, middleware, serve } from '../lib/scripts.js'

const file = process.argv[2]
if (!file) {
  console.error('usage: usher-middleware MODULE, by script: { run: [...] } of Usher')
  process.exit(2)
}

function handlers(module) {
  const given = module.default ?? module.middleware
  const list = Array.isArray(given) ? given : given?.middleware
  if (!Array.isArray(list)) return given
  const needs = module.needs ?? 'body'
  return list.every(one => typeof one === 'function') ? middleware(list, { needs }) : cdt(list, { needs })
}

try {
  const found = handlers(await import(pathToFileURL(path.resolve(file))))
  if (!found?.request && !found?.response) throw new Error(`${file} exports no array of middleware, and no handlers`)
  serve(found)
} catch (error) {
  console.error(error.stack)
  console.error(error.message)
  process.exit(1)
}
