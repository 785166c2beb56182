import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { History } from './history.ts'

interface Asked {
  body?: object | string
  /** With it, a repeated request makes nothing twice. */
  idempotencyKey?: string
  /** Statuses besides 2xx that end the request. */
  accept?: readonly number[]
}

interface Answer {
  status: number
  body: Record<string, unknown>
}

export type Ask = (method: string, path: string, asked?: Asked) => Promise<Answer>

const pauseMs = 200
// A server may die twenty times in a round, and starts in some seconds each time.
const maxWaitMs = 400_000
// The server dies, is not there yet, or cannot use its database; or another process works on the same request.
const repeated = new Set([409, 429, 502, 503])

/** A client that repeats a request until it is answered, as those of the field do. Each answer is final. */
export function createPersistentClient(url: string, key: string, history: History): Ask {
  return async (method, path, { body, idempotencyKey, accept = [] } = {}) => {
    const until = Date.now() + maxWaitMs
    for (let count = 0; ; count++) {
      let broken: unknown
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': typeof body === 'string' ? 'application/jsonl' : 'application/json',
          ...(count > 0 && { 'x-stainless-retry-count': String(count) }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      }).catch((error: unknown) => void (broken = error))
      const text = await response?.text().catch(() => undefined)
      if (response && text !== undefined && !isRepeated(response.status, accept)) {
        if (response.ok || accept.includes(response.status)) return { status: response.status, body: parse(text) }
        const wrong = `${method} ${path}: ${response.status} ${text.slice(0, 300)}`
        history.wrongAnswers.push(wrong)
        if (response.status < 500) throw new Error(wrong)
      }
      if (Date.now() > until)
        throw new Error(`${method} ${path} is not answered: ${response?.status} ${text}`, { cause: broken })
      await delay(pauseMs)
    }
  }
}

const isRepeated = (status: number, accept: readonly number[]) => repeated.has(status) && !accept.includes(status)

function parse(text: string): Record<string, unknown> {
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

export const newKey = (): string => randomUUID()
