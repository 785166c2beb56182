import { digestMismatch } from '../errors.ts'
import { publishVersion } from '../../../db/tracing/objects.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { ValueInspector } from './value-inspector.ts'
import type { Pool } from '../../../db/pool.ts'
import { findProjectNumbers } from '../internal-refs.ts'
import type { Project } from '../projects.ts'
import type { GivenValue } from './inspect-value.ts'
import { checkObjectId } from './object-names.ts'

export interface CreateObjectDeps {
  inspector: ValueInspector
  pool: Pool
}

export interface NewObject extends Omit<GivenValue, 'numbers'> {
  objectId: string
  /** The digest that the client computed. */
  expectedDigest?: string | null | undefined
  wbUserId: string
  turn: Turn
}

/**
 * Publishes a value under a name and returns the version's digest. Publishing the same value again creates no version,
 * but makes the existing one the latest.
 *
 * @throws {HttpError} 403 for an invalid name, 400 when the value does not match its class, 409 when the client
 * computed another digest
 */
export async function createObject(
  { pool, inspector }: CreateObjectDeps,
  project: Project,
  { objectId, expectedDigest, wbUserId, turn, ...given }: NewObject,
): Promise<string> {
  checkObjectId(objectId)
  const numbers = await findProjectNumbers(pool, project, given.val)
  const { completed, ...kept } = await inspector.inspect({ ...given, numbers }, turn)
  if (expectedDigest && expectedDigest !== kept.digest)
    throw digestMismatch(`The digest of ${objectId} is ${kept.digest}`)
  await publishVersion(pool, project.number, { ...kept, objectId, val: completed ?? given.val, wbUserId })
  return kept.digest
}
