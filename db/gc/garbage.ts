import { sqlKey } from '../../artifacts/layout.ts'
import type { Connection, Pool } from '../pool.ts'
import { isBlobNeeded } from '../artifacts/blobs.ts'

/** What lies in the store below one prefix, or is one object; `bytes` in all. */
export interface StoredUnit {
  prefix: string
  bytes: number
}

/** What lies in the store and no row points at. */
export interface GarbageUnit extends StoredUnit {
  /** the database has never heard of it */
  unseen: boolean
}

/** Garbage that was noted: in quarantine, or kept. */
export interface GarbageRow extends GarbageUnit {
  quarantinedAt: Date
  keptAt: Date | null
}

const columns = 'prefix, bytes, unseen, quarantined_at AS "quarantinedAt", kept_at AS "keptAt"'

/** Notes what nothing points at; tells what is in quarantine since this moment. */
export async function quarantineUnits(pool: Pool, found: GarbageUnit[]): Promise<StoredUnit[]> {
  const { rows } = await pool.query<StoredUnit>(
    `INSERT INTO training.garbage (prefix, bytes, unseen)
     SELECT prefix, bytes, unseen FROM jsonb_to_recordset($1) AS found (prefix text, bytes bigint, unseen boolean)
     ON CONFLICT (prefix) DO NOTHING RETURNING prefix, bytes`,
    [JSON.stringify(found)],
  )
  return rows
}

/** Keeps what the database has never heard of: it is not removed, and counts as known. */
export async function keepUnits(pool: Pool, units: StoredUnit[]): Promise<void> {
  await pool.query(
    `INSERT INTO training.garbage (prefix, bytes, unseen, kept_at)
     SELECT prefix, bytes, true, now() FROM jsonb_to_recordset($1) AS found (prefix text, bytes bigint)
     ON CONFLICT (prefix) DO UPDATE SET kept_at = coalesce(garbage.kept_at, now())`,
    [JSON.stringify(units)],
  )
}

/**
 * Forgets what is pointed at again, or gone: all that is not among what nothing points at. What somebody keeps is not
 * forgotten where the store only seems to be empty.
 */
export async function releaseOtherUnits(pool: Pool, found: string[]): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE kept_at IS NULL AND prefix <> ALL ($1)', [found])
}

/** Forgets what is kept, where rows point at it: it goes when they do. */
export async function releaseReferencedUnits(pool: Pool, prefixes: string[]): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE prefix = ANY ($1)', [prefixes])
}

/** Has the quarantine of what the database has never heard of begin anew. */
export async function restartQuarantine(pool: Pool): Promise<void> {
  await pool.query('UPDATE training.garbage SET quarantined_at = now() WHERE unseen AND kept_at IS NULL')
}

/** Those of the prefixes that are kept, and those of which it is known that they are garbage. */
export async function listKnownUnits(pool: Pool, prefixes: string[]): Promise<{ prefix: string; kept: boolean }[]> {
  const { rows } = await pool.query<{ prefix: string; kept: boolean }>(
    `SELECT prefix, kept_at IS NOT NULL AS kept FROM training.garbage
     WHERE prefix = ANY ($1) AND (kept_at IS NOT NULL OR NOT unseen)`,
    [prefixes],
  )
  return rows
}

/** What has been in quarantine for so long. */
export async function listCollectableUnits(pool: Pool, afterSeconds: number): Promise<StoredUnit[]> {
  const { rows } = await pool.query<StoredUnit>(
    `SELECT prefix, bytes FROM training.garbage
     WHERE kept_at IS NULL AND quarantined_at < now() - make_interval(secs => $1) ORDER BY quarantined_at`,
    [afterSeconds],
  )
  return rows
}

/** Whether a unit is in quarantine still, and not kept since it was listed. */
export async function isQuarantined(connection: Connection, prefix: string): Promise<boolean> {
  const { rowCount } = await connection.query('SELECT FROM training.garbage WHERE prefix = $1 AND kept_at IS NULL', [
    prefix,
  ])
  return rowCount === 1
}

/** Forgets what is removed. */
export async function markUnitCollected(pool: Pool, prefix: string): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE prefix = $1', [prefix])
}

/** Forgets what is noted of an entity that is erased, kept or not. */
export async function eraseGarbageRows(pool: Pool, entity: string): Promise<void> {
  await pool.query(
    `DELETE FROM training.garbage
     WHERE split_part(prefix, '/', 1) IN ('payloads', 'artifacts', 'uploads', 'traces') AND split_part(prefix, '/', 2) = $1`,
    [entity],
  )
}

/** All that is noted, what was noted first before the rest. */
export async function listGarbage(pool: Pool): Promise<GarbageRow[]> {
  const { rows } = await pool.query<GarbageRow>(
    `SELECT ${columns} FROM training.garbage ORDER BY quarantined_at, prefix`,
  )
  return rows
}

/** Keeps what is in quarantine, or some of it; tells how much that was. */
export async function keepGarbage(pool: Pool, prefixes: string[] | 'all'): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE training.garbage SET kept_at = now() WHERE kept_at IS NULL AND ($1::text[] IS NULL OR prefix = ANY ($1))`,
    [prefixes === 'all' ? null : prefixes],
  )
  return rowCount ?? 0
}

/**
 * Says of what is noted, or of some of it, that it is garbage: its quarantine begins anew, and it counts as known. Tells how
 * much that was.
 */
export async function releaseGarbage(pool: Pool, prefixes: string[] | 'all'): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE training.garbage SET kept_at = NULL, unseen = false, quarantined_at = now()
     WHERE (unseen OR kept_at IS NOT NULL) AND ($1::text[] IS NULL OR prefix = ANY ($1))`,
    [prefixes === 'all' ? null : prefixes],
  )
  return rowCount ?? 0
}

/**
 * Files of data sets that no version and no job has needed since a day after they came: uploads that went nowhere. Their
 * rows go, and they are noted as garbage that the database knew.
 */
export async function quarantineUnneededBlobs(pool: Pool, afterSeconds: number): Promise<void> {
  await pool.query(
    `WITH gone AS (
       DELETE FROM training.blobs WHERE (entity, digest) IN (
         SELECT b.entity, b.digest FROM training.blobs b
         WHERE b.created_at < now() - make_interval(secs => $1) AND NOT ${isBlobNeeded}
         LIMIT 1000 FOR UPDATE SKIP LOCKED)
       RETURNING entity, digest, size)
     INSERT INTO training.garbage (prefix, bytes) SELECT ${sqlKey('blob', { entity: 'entity', digest: 'digest' })}, size FROM gone
     ON CONFLICT (prefix) DO NOTHING`,
    [afterSeconds],
  )
}
