import { column, selectColumns, type RowOf } from '../columns.ts'
import type { Connection, Pool } from '../pool.ts'
import { isBlobNeeded, sqlBlobKey } from '../artifacts/blobs.ts'

/** All objects below one prefix of the store, or one object. `bytes` is their total size. */
export interface StoredUnit {
  prefix: string
  bytes: number
}

/** A unit of the store that no row refers to. */
export interface GarbageUnit extends StoredUnit {
  /** The database has no trace of it. */
  unseen: boolean
}

export const garbageColumns = {
  prefix: column<string>('prefix', 'text'),
  bytes: column<number>('bytes', 'bigint'),
  unseen: column<boolean>('unseen', 'boolean'),
  quarantinedAt: column<Date>('quarantined_at', 'timestamptz'),
  keptAt: column<Date | null>('kept_at', 'timestamptz'),
}

/** Garbage that is in quarantine, or kept. */
export type GarbageRow = RowOf<typeof garbageColumns>

const columns = selectColumns(garbageColumns)

/** Puts unreferenced units into quarantine. Returns those that were not in it before. */
export async function quarantineUnits(pool: Pool, found: GarbageUnit[]): Promise<StoredUnit[]> {
  const { rows } = await pool.query<StoredUnit>(
    `INSERT INTO training.garbage (prefix, bytes, unseen)
     SELECT prefix, bytes, unseen FROM jsonb_to_recordset($1) AS found (prefix text, bytes bigint, unseen boolean)
     ON CONFLICT (prefix) DO NOTHING RETURNING prefix, bytes`,
    [JSON.stringify(found)],
  )
  return rows
}

/** Keeps units that the database does not know: they are not removed, and count as known. */
export async function keepUnits(pool: Pool, units: StoredUnit[]): Promise<void> {
  await pool.query(
    `INSERT INTO training.garbage (prefix, bytes, unseen, kept_at)
     SELECT prefix, bytes, true, now() FROM jsonb_to_recordset($1) AS found (prefix text, bytes bigint)
     ON CONFLICT (prefix) DO UPDATE SET kept_at = coalesce(garbage.kept_at, now())`,
    [JSON.stringify(units)],
  )
}

/**
 * Ends the quarantine of all units except these: they are referenced again, or gone. Units that an admin keeps stay
 * recorded, because the store may only look empty.
 */
export async function releaseOtherUnits(pool: Pool, found: string[]): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE kept_at IS NULL AND prefix <> ALL ($1)', [found])
}

/** Stops keeping units that rows refer to: from now on they are removed with their rows. */
export async function releaseReferencedUnits(pool: Pool, prefixes: string[]): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE prefix = ANY ($1)', [prefixes])
}

/** Restarts the quarantine of units that the database does not know. */
export async function restartQuarantine(pool: Pool): Promise<void> {
  await pool.query('UPDATE training.garbage SET quarantined_at = now() WHERE unseen AND kept_at IS NULL')
}

/** Lists the units among these prefixes that are kept, or known to be garbage. */
export async function listKnownUnits(pool: Pool, prefixes: string[]): Promise<{ prefix: string; kept: boolean }[]> {
  const { rows } = await pool.query<{ prefix: string; kept: boolean }>(
    `SELECT prefix, kept_at IS NOT NULL AS kept FROM training.garbage
     WHERE prefix = ANY ($1) AND (kept_at IS NOT NULL OR NOT unseen)`,
    [prefixes],
  )
  return rows
}

/** Lists units that have been in quarantine for `afterSeconds`. */
export async function listCollectableUnits(pool: Pool, afterSeconds: number): Promise<StoredUnit[]> {
  const { rows } = await pool.query<StoredUnit>(
    `SELECT prefix, bytes FROM training.garbage
     WHERE kept_at IS NULL AND quarantined_at < now() - make_interval(secs => $1) ORDER BY quarantined_at`,
    [afterSeconds],
  )
  return rows
}

/** Whether a unit is still in quarantine, and was not kept since it was listed. */
export async function isQuarantined(connection: Connection, prefix: string): Promise<boolean> {
  const { rowCount } = await connection.query('SELECT FROM training.garbage WHERE prefix = $1 AND kept_at IS NULL', [
    prefix,
  ])
  return rowCount === 1
}

/** Records that a unit was removed. */
export async function markUnitCollected(pool: Pool, prefix: string): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE prefix = $1', [prefix])
}

/** Deletes the rows of an erased entity, also those of kept units. */
export async function eraseGarbageRows(pool: Pool, entity: string): Promise<void> {
  await pool.query(
    `DELETE FROM training.garbage
     WHERE split_part(prefix, '/', 1) IN ('payloads', 'artifacts', 'uploads', 'traces') AND split_part(prefix, '/', 2) = $1`,
    [entity],
  )
}

/** Lists all garbage in the order in which its quarantine began. */
export async function listGarbage(pool: Pool): Promise<GarbageRow[]> {
  const { rows } = await pool.query<GarbageRow>(
    `SELECT ${columns} FROM training.garbage ORDER BY quarantined_at, prefix`,
  )
  return rows
}

/** Keeps some or all units in quarantine; returns how many. */
export async function keepGarbage(pool: Pool, prefixes: string[] | 'all'): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE training.garbage SET kept_at = now() WHERE kept_at IS NULL AND ($1::text[] IS NULL OR prefix = ANY ($1))`,
    [prefixes === 'all' ? null : prefixes],
  )
  return rowCount ?? 0
}

/** Confirms that some or all units are garbage. Their quarantine restarts and they count as known. Returns how many. */
export async function releaseGarbage(pool: Pool, prefixes: string[] | 'all'): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE training.garbage SET kept_at = NULL, unseen = false, quarantined_at = now()
     WHERE (unseen OR kept_at IS NOT NULL) AND ($1::text[] IS NULL OR prefix = ANY ($1))`,
    [prefixes === 'all' ? null : prefixes],
  )
  return rowCount ?? 0
}

/**
 * Quarantines data set files that no job and no version has needed for `afterSeconds` after their upload. Deletes their
 * rows; the garbage counts as known.
 */
export async function quarantineUnneededBlobs(pool: Pool, afterSeconds: number): Promise<void> {
  await pool.query(
    `WITH gone AS (
       DELETE FROM training.blobs b WHERE (entity, digest) IN (
         SELECT b.entity, b.digest FROM training.blobs b
         WHERE b.created_at < now() - make_interval(secs => $1) AND NOT ${isBlobNeeded}
         LIMIT 1000 FOR UPDATE SKIP LOCKED)
       RETURNING ${sqlBlobKey} AS key, size)
     INSERT INTO training.garbage (prefix, bytes) SELECT key, size FROM gone
     ON CONFLICT (prefix) DO NOTHING`,
    [afterSeconds],
  )
}
