import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { DatabaseUrl } from '../address.ts'
import type { Logger } from '../../lib/log.ts'
import { migrateTo, type DatabasePart } from '../migrate.ts'
import { partContents, selectTables, type PartBackup, type TableBackup } from './catalog.ts'
import { connectForBackup } from './dump.ts'

/** A backup that cannot be restored here. The message says why, and what to do. */
export class RestoreError extends Error {
  override name = 'RestoreError'
}

/** @throws {RestoreError} if a part of the database has been used */
export async function requireEmptyPart(url: DatabaseUrl, part: DatabasePart): Promise<void> {
  const client = await connectForBackup(url)
  try {
    const { rows } = await client.query<{ used: boolean }>('SELECT to_regclass($1) IS NOT NULL AS used', [
      partContents[part].migrations,
    ])
    if (rows[0]?.used) throw new RestoreError('The database is not empty. Restore into a new, empty database.')
  } finally {
    await client.end()
  }
}

/**
 * Restores a part of an empty database: the schema of the backup's migrations, and then all rows in one transaction.
 *
 * @throws {RestoreError} if the backup is of a later version, or damaged
 */
export async function loadPart(
  { url, part, log }: { url: DatabaseUrl; part: DatabasePart; log: Logger },
  backup: PartBackup,
  folder: string,
): Promise<void> {
  for (const table of backup.tables) await requireWhole(table, folder)
  const missing = await migrateTo(url, log, part, backup.migrations)
  if (missing.length > 0) {
    throw new RestoreError(`The backup is of another version: this one has no migration ${missing.join(', ')}.`)
  }
  const client = await connectForBackup(url)
  try {
    await client.query('BEGIN')
    await loadRows(client, part, backup, folder)
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

async function loadRows(client: pg.Client, part: DatabasePart, backup: PartBackup, folder: string): Promise<void> {
  for (const week of backup.weeks) await client.query('SELECT tracing.add_week($1)', [week])
  const { rows: tables } = await client.query<{ name: string }>(selectTables, [partContents[part].schemas])
  const names = tables.map(({ name }) => name)
  // Triggers would record everything as new. Foreign keys form cycles, so that no order of tables fits.
  for (const name of names) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
  const constraints = await dropForeignKeys(client, names)
  // The migrations have inserted rows of a new installation.
  await client.query(`TRUNCATE ${names.join(', ')}`)
  for (const table of backup.tables) await loadTable(client, table, folder)
  for (const { table, name, definition } of constraints) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
  }
  for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
  for (const [name, value] of Object.entries(backup.sequences)) {
    if (value !== null) await client.query('SELECT setval($1, $2)', [name, value])
  }
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

async function dropForeignKeys(client: pg.Client, tables: string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND conrelid = ANY ($1::regclass[])`,
    [tables],
  )
  for (const { table, name } of rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  return rows
}

async function loadTable(client: pg.Client, { name, columns, rows, file }: TableBackup, folder: string): Promise<void> {
  const copy = client.query(copyFrom(`COPY ${name} (${columns.join(', ')}) FROM STDIN`))
  await pipeline(createReadStream(path.join(folder, file)), createGunzip(), copy)
  if (copy.rowCount !== rows) throw new RestoreError(`${file} has ${copy.rowCount} rows instead of ${rows}.`)
}

async function requireWhole({ file, digest }: TableBackup, folder: string): Promise<void> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path.join(folder, file))) hash.update(chunk as Buffer)
  if (hash.digest('hex') !== digest) throw new RestoreError(`The backup is damaged: ${file} was changed.`)
}
