import type { Server } from 'node:http'
import { startServer } from '../lib/http/server.ts'

// A watch gets an event, at least a bookmark, about every minute.
const staleMs = 180_000

/** The operator's health. A standby has no watches: `watchAgeMs` is undefined. */
export interface Health {
  leading: boolean
  watchAgeMs: number | undefined
  /** Why this replica can neither lead nor stand by; undefined if it can. */
  notReady: string | undefined
  /** Why nothing, or not all garbage, is removed from the artifact store. */
  storeTrouble: string | undefined
}

interface Answer {
  status: number
  body: object
}

/**
 * Serves GET /health and GET /ready, for the liveness and the readiness probe. /health answers 503 if the watches have
 * got no event for three minutes, so that we are restarted. /ready answers 503 while we can neither lead nor stand by.
 */
export function startHealthServer(
  address: { TRAINYARD_HOST: string; TRAINYARD_PORT: number },
  read: () => Health,
): Promise<Server> {
  const settings = { host: address.TRAINYARD_HOST, port: address.TRAINYARD_PORT }
  return startServer((request, response) => {
    const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined
    const { status, body } = answer(path, read())
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }, settings)
}

function answer(path: string | undefined, health: Health): Answer {
  const isStale = (health.watchAgeMs ?? 0) > staleMs
  const body = present(health, isStale)
  if (path === '/health') return { status: isStale ? 503 : 200, body }
  if (path === '/ready') return { status: isStale || health.notReady !== undefined ? 503 : 200, body }
  return { status: 404, body: { detail: 'Not found' } }
}

function present({ leading, notReady, storeTrouble }: Health, isStale: boolean) {
  return {
    status: isStale ? 'stale' : 'ok',
    leading,
    ...(notReady !== undefined && { not_ready: notReady }),
    ...(storeTrouble !== undefined && { artifacts: storeTrouble }),
  }
}
