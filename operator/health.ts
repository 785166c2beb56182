import type { Server } from 'node:http'
import { startServer } from '../lib/http/server.ts'

// A watch gets an event, at least a bookmark, about every minute.
const staleMs = 180_000

/** The operator's health. A standby has no watches: `watchAgeMs` is undefined. */
export interface Health {
  leading: boolean
  watchAgeMs: number | undefined
  /** Why nothing, or not all garbage, is removed from the artifact store. */
  storeTrouble: string | undefined
}

/**
 * Serves GET /health. Answers 503 if the watches have got no event for three minutes, so that the liveness probe
 * restarts us.
 */
export function startHealthServer(
  address: { TRAINYARD_HOST: string; TRAINYARD_PORT: number },
  read: () => Health,
): Promise<Server> {
  const settings = { host: address.TRAINYARD_HOST, port: address.TRAINYARD_PORT }
  return startServer((request, response) => {
    const isHealth = request.method === 'GET' && request.url?.split('?')[0] === '/health'
    const health = read()
    const isStale = (health.watchAgeMs ?? 0) > staleMs
    const body = isHealth ? present(health, isStale) : { detail: 'Not found' }
    response.writeHead(isHealth ? (isStale ? 503 : 200) : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }, settings)
}

function present({ leading, storeTrouble }: Health, isStale: boolean) {
  return { status: isStale ? 'stale' : 'ok', leading, ...(storeTrouble !== undefined && { artifacts: storeTrouble }) }
}
