import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import type { Logger } from '../lib/log.ts'

/** Applies the migrations that this database lacks, one at a time under an advisory lock: safe in every process. */
export async function migrate(databaseUrl: string, log: Logger): Promise<void> {
  const applied = await runner({
    databaseUrl,
    dir: path.join(import.meta.dirname, 'migrations'),
    direction: 'up',
    migrationsTable: 'migrations',
    migrationsSchema: 'public',
    checkOrder: true,
    noLock: false,
    log: () => {},
  })
  if (applied.length > 0) log.info({ migrations: applied.map((migration) => migration.name) }, 'database migrated')
}

/** Migrates as soon as Postgres answers, which may come up after its clients; gives up when `signal` is aborted. */
export async function migrateWhenReady(databaseUrl: string, log: Logger, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    try {
      await migrate(databaseUrl, log)
      return
    } catch (error) {
      log.warn({ error }, 'database not migrated yet')
      await delay(1_000, undefined, { signal }).catch(() => {})
    }
  }
}
