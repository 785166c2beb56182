import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../lib/log.ts'

/** A running LISTEN; `close` ends it and its connection. */
export interface Listener {
  close(): Promise<void>
}

/**
 * Listens to Postgres channels on a connection of its own and calls back with (channel, payload).
 *
 * The connection is made anew when it breaks; `onConnect` is called after each (re)connection, because what was
 * notified meanwhile is lost: callers re-read then.
 */
export function listen(
  databaseUrl: string,
  channels: readonly string[],
  handlers: { onNotify: (channel: string, payload: string) => void; onConnect: () => void },
  log: Logger,
): Listener {
  const stop = new AbortController()
  let current: pg.Client | undefined

  const runOnce = async () => {
    const client = new pg.Client({ connectionString: databaseUrl, keepAlive: true, connectionTimeoutMillis: 5_000 })
    current = client
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('error', (error) => log.warn({ error }, 'database notifications interrupted'))
    client.on('notification', (message) => handlers.onNotify(message.channel, message.payload ?? ''))
    await client.connect()
    for (const channel of channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
    handlers.onConnect()
    await ended
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      await runOnce().catch((error: unknown) => log.warn({ error }, 'listening to the database failed'))
      await delay(500, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async close() {
      stop.abort()
      await current?.end().catch(() => {})
      await running
    },
  }
}
