import { findVersion, type ObjectVersion, type ObjectValue } from '../../../db/tracing/objects.ts'
import type { TraceDeps } from '../deps.ts'
import { cut } from '../cut.ts'
import type { Project } from '../projects.ts'
import { missing } from '../refusals.ts'
import { readSelector } from './object-names.ts'

/** Names a version: `digest` is its digest, `latest`, `v` and its index, or an alias. */
export interface ObjectPlace {
  objectId: string
  digest: string
}

/**
 * A version that is there, with the text of its value.
 *
 * @throws {TraceRefusal} 404; with `deleted_at` when it was deleted
 */
export async function readObject(
  deps: Pick<TraceDeps, 'pool'>,
  project: Project,
  place: ObjectPlace,
): Promise<ObjectValue> {
  const { val, ...version } = await find(deps, project, { ...place, withValue: true })
  return { ...version, val: val ?? 'null' }
}

/** The same without the value. */
export async function readVersion(
  deps: Pick<TraceDeps, 'pool'>,
  project: Project,
  place: ObjectPlace,
): Promise<ObjectVersion> {
  const { val: _, ...version } = await find(deps, project, { ...place, withValue: false })
  return version
}

async function find(
  { pool }: Pick<TraceDeps, 'pool'>,
  { number }: Project,
  { objectId, digest, withValue }: ObjectPlace & { withValue: boolean },
): Promise<ObjectVersion & { val: string | null }> {
  // What comes from the path of a request may hold it, and Postgres does not take it.
  if (`${objectId}${digest}`.includes('\0')) throw missing('Obj not found')
  const selector = readSelector(digest)
  const found =
    (await findVersion(pool, number, { objectId, selector, withValue })) ??
    (typeof selector === 'object' && 'digest' in selector
      ? await findVersion(pool, number, { objectId, selector: { alias: digest }, withValue })
      : undefined)
  if (!found) throw missing(`Obj ${cut(`${objectId}:${digest}`)} not found`)
  if (found.deletedAt === null) return found
  const deleted = `${objectId}:v${found.versionIndex} was deleted at ${found.deletedAt}`
  throw missing(deleted, { deleted_at: found.deletedAt })
}
