// Scripts that Usher asks about messages.
import type { Socket } from 'node:net'

export interface Action {
  readonly type: string
  readonly payload?: { tree?: string; type?: string; [name: string]: unknown }
  readonly realm?: string
}

export interface Context {
  /** Texts that this interceptor keeps for the exchange. */
  state: Record<string, string>
  interceptor: string
}

export type Body = string | Uint8Array | ArrayBuffer | URLSearchParams

export interface Message {
  headers: Headers
  /** Undefined without `needs: 'body'`. */
  body?: Buffer | Body
  text?: string
}

export interface ScriptRequest extends Message {
  method: string
  url: URL
}

export interface ScriptResponse extends Message {
  status: number
}

export class Verdict {}
export type Outcome = Verdict | void | Promise<Verdict | void>

export interface Handlers {
  request?(request: ScriptRequest, action: Action, context: Context): Outcome
  response?(response: ScriptResponse, request: ScriptRequest, action: Action, context: Context): Outcome
  needs?: 'head' | 'body'
}

type HeaderList = Headers | Record<string, string> | [string, string][]
export function respond(response?: { status?: number; headers?: HeaderList; body?: Body }): Verdict
export function abort(reason: string): Verdict
export function retry(options?: {
  request?: ScriptRequest | { method?: string; url?: string | URL; headers?: HeaderList; body?: Body }
  /** Milliseconds. */
  after?: number
}): Verdict

export function serve(handlers: Handlers, socket?: Socket): void

/** A request as middleware of the JavaScript SDK sees it. */
export interface RequestObj {
  url: URL
  init: RequestInit
  headers: Headers
  method: string
  body?: BodyInit
}
export type RequestMiddleware = (req: RequestObj, action: Action, next: () => RequestObj) => void
export function middleware(list: RequestMiddleware[], options?: { needs?: 'head' | 'body' }): Handlers

export interface InterceptorContext {
  request: ScriptRequest
  response: ScriptResponse | null
  responseData: Buffer | Body | null
  state: Record<string, unknown>
  shouldRetry: boolean
}
export interface Interceptor {
  interceptRequestInContext?(context: InterceptorContext): InterceptorContext | null | Promise<InterceptorContext | null>
  interceptResponseInContext?(context: InterceptorContext): InterceptorContext | null | Promise<InterceptorContext | null>
}
export function cdt(list: Interceptor[], options?: { needs?: 'head' | 'body' }): Handlers
