import pg from 'pg'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'
import { SharedLoads } from '../lib/shared-loads.ts'

// A connection that died without a word is noticed so.
const probeMs = 15_000
const answerMs = 5_000
const reconnectMs = 500

/** A running LISTEN. */
export interface Listener {
  /** Asks the server for an answer on the same connection. @throws when there is none; then the connection is made anew */
  probe(): Promise<void>
  /** Ends it and its connection. */
  close(): Promise<void>
}

interface Handlers {
  onNotify: (channel: string, payload: string) => void
  /** after each (re)connection: what was notified before it is lost, so callers re-read */
  onConnect: () => void
  /** after a connection broke or was not made */
  onDisconnect?: () => void
}

/**
 * Listens to Postgres channels on a connection of its own and calls back with (channel, payload). The connection is made
 * anew when it breaks.
 */
export function listen(databaseUrl: string, channels: readonly string[], handlers: Handlers, log: Logger): Listener {
  const stop = new AbortController()
  let current: pg.Client | undefined
  let listening: pg.Client | undefined
  // Those of several callers share one query, which begins after they have asked.
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
      await client.connect()
      for (const channel of channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      listening = client
      handlers.onConnect()
      await ended
    } finally {
      clearInterval(probing)
      listening = undefined
      void end()
      handlers.onDisconnect?.()
    }
  }

  const onError = (error: unknown) => log.warn({ error }, 'listening to the database failed')
  const running = repeat(runOnce, { pauseMs: reconnectMs, signal: stop.signal, onError })
  return {
    probe,
    async close() {
      stop.abort()
      await current?.end().catch(() => {})
      await running
    },
  }
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

function createClient(connectionString: string, channels: readonly string[]): pg.Client {
  return new pg.Client({
    connectionString,
    // For people who look at pg_stat_activity.
    application_name: `trainyard listens to ${channels.join(', ')}`.slice(0, 63),
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerMs,
  })
}
