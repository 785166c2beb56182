import { missing } from '../errors.ts'
import { findVersion, type ObjectValue, type ObjectVersion, type VersionSelector } from '../../../db/tracing/objects.ts'
import type { Pool } from '../../../db/pool.ts'
import { truncate } from '../truncate.ts'
import type { Project } from '../projects.ts'
import type { ReadDeps } from '../read-memory.ts'
import { readSelector } from './object-names.ts'

// A value up to this size is read with its version. The memory of a larger one is reserved first.
const smallBytes = 64 * 1024

/** Names a version: `digest` is its digest, `latest`, `v` and its index, or an alias. */
export interface ObjectLocator {
  objectId: string
  digest: string
}

/**
 * Reads a live version with the text of its value. `reading` counts the value.
 *
 * @throws {HttpError} 404, with `deleted_at` when it was deleted
 * @throws {HttpError} 413, 429 or 503 when there is not enough memory
 */
export async function readObject(
  { pool, reading }: ReadDeps,
  project: Project,
  locator: ObjectLocator,
): Promise<ObjectValue> {
  const { val, ...version } = await find(pool, project, { ...locator, valueBytes: smallBytes })
  reading.add(version.size)
  if (val !== null) return { ...version, val }
  const { objectId, digest } = version
  const whole = await findVersion(pool, project.number, { objectId, selector: { digest }, valueBytes: version.size })
  return { ...version, val: whole?.val ?? 'null' }
}

/** Reads a version without its value. @throws {HttpError} 404, with `deleted_at` when it was deleted */
export async function readVersion(pool: Pool, project: Project, locator: ObjectLocator): Promise<ObjectVersion> {
  const { val: _, ...version } = await find(pool, project, { ...locator, valueBytes: 0 })
  return version
}

async function find(
  pool: Pool,
  { number }: Project,
  { objectId, digest, valueBytes }: ObjectLocator & { valueBytes: number },
): Promise<ObjectVersion & { val: string | null }> {
  // A path of a request may contain NUL, which Postgres rejects.
  if (`${objectId}${digest}`.includes('\0')) throw missing('Obj not found')
  const selector = readSelector(digest)
  const look = (by: VersionSelector) => findVersion(pool, number, { objectId, selector: by, valueBytes })
  const mayBeAlias = typeof selector === 'object' && 'digest' in selector
  const found = (await look(selector)) ?? (mayBeAlias ? await look({ alias: digest }) : undefined)
  if (!found) throw missing(`Obj ${truncate(`${objectId}:${digest}`)} not found`)
  if (found.deletedAt === null) return found
  const deleted = `${objectId}:v${found.versionIndex} was deleted at ${found.deletedAt}`
  throw missing(deleted, { deleted_at: found.deletedAt })
}
