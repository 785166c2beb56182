import { readdirSync } from 'node:fs'
import path from 'node:path'
import { runner } from 'node-pg-migrate'

const dir = path.resolve(import.meta.dirname, '../../db/migrations')

/** Migrates an empty database as a version did that did not have this migration yet, nor later ones. */
export async function migrateBefore(databaseUrl: string, migration: string): Promise<void> {
  const names = readdirSync(dir).map((file) => path.parse(file).name)
  const count = names.toSorted().indexOf(migration)
  if (count === -1) throw new Error(`there is no migration ${migration}`)
  const options = { direction: 'up', migrationsTable: 'migrations', migrationsSchema: 'public', log: () => {} } as const
  await runner({ ...options, databaseUrl, dir, count })
}
