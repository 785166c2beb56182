import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { DatabaseUrl } from './address.ts'
import { connectionConfig } from './connection-config.ts'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'
import { SharedLoads } from '../lib/shared-loads.ts'

// Probes detect a connection that broke silently.
const probeMs = 15_000
const answerMs = 5_000
const reconnectMs = 500
// How long the server may take to close a connection that we end.
const endMs = 500

/** How often the connections that listen in this process were opened again. Metrics read it. */
export const listenStatistics = { reconnects: 0 }

export interface Listener {
  /** Sends a query on the same connection. @throws if no answer comes; then the connection is reopened */
  probe(): Promise<void>
  /** Ends the listener and its connection. */
  close(): Promise<void>
}

interface Handlers {
  onNotify: (channel: string, payload: string) => void
  /** After each (re)connection. Earlier notifications are lost, so callers must read again. */
  onConnect: () => void
  /** After a connection broke or could not be opened. */
  onDisconnect?: () => void
}

/**
 * Listens to Postgres channels on its own connection, which no pooler may share, and calls back with (channel, payload). Reopens a broken
 * connection.
 */
export function listen(
  databaseUrl: DatabaseUrl,
  channels: readonly string[],
  handlers: Handlers,
  log: Logger,
): Listener {
  const stop = new AbortController()
  let current: pg.Client | undefined
  let listening: pg.Client | undefined
  let hasListened = false
  // Concurrent callers share one query. It starts after all of them have asked.
  const probes = new SharedLoads<void>()
  const probe = () => probes.get('', () => (listening ? probeClient(listening) : rejectUnconnected()))

  const runOnce = async () => {
    const client = createClient(databaseUrl, channels)
    current = client
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('error', (error) => log.warn({ error }, 'database notifications interrupted'))
    client.on('notification', (message) => handlers.onNotify(message.channel, message.payload ?? ''))
    const end = () => client.end().catch(() => {})
    const probing = setInterval(() => void probe().catch(() => {}), probeMs)
    try {
      // The driver settles neither way if the client is ended while it connects.
      await Promise.race([client.connect(), ended])
      for (const channel of channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      listening = client
      if (hasListened) listenStatistics.reconnects++
      hasListened = true
      handlers.onConnect()
      await ended
    } finally {
      clearInterval(probing)
      listening = undefined
      void end()
      handlers.onDisconnect?.()
    }
  }

  const onError = (error: unknown) => {
    if (!stop.signal.aborted) log.warn({ error }, 'listening to the database failed')
  }
  const running = repeat(runOnce, { pauseMs: reconnectMs, signal: stop.signal, onError })
  return {
    probe,
    async close() {
      stop.abort()
      if (current) await endClient(current)
      await running
    },
  }
}

/** Ends a client in every state. Nothing is lost with its connection, so a silent server is not waited for. */
async function endClient(client: pg.Client): Promise<void> {
  const closed = client.end().catch(() => {})
  await Promise.race([closed, delay(endMs, undefined, { ref: false })])
  client.connection.stream.destroy()
}

async function rejectUnconnected(): Promise<void> {
  throw new Error('not connected to the database')
}

async function probeClient(client: pg.Client): Promise<void> {
  try {
    await client.query({ name: 'probe', text: 'SELECT 1' })
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
}

function createClient(databaseUrl: DatabaseUrl, channels: readonly string[]): pg.Client {
  return new pg.Client({
    ...connectionConfig(databaseUrl),
    // Shown in pg_stat_activity.
    application_name: `trainyard listens to ${channels.join(', ')}`.slice(0, 63),
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerMs,
  })
}
