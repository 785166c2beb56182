import { digestMismatch } from '../errors.ts'
import { publishAfter, publishVersion, type NewVersion } from '../../../db/tracing/objects.ts'
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
}

/** A value that becomes the version after another one. */
interface NextObject extends NewObject {
  /** The digest of the latest version so far, or null for none. */
  after: string | null
}

/**
 * Publishes a value under a name and returns the version's digest. Publishing the same value again creates no version,
 * but makes the existing one the latest.
 *
 * @throws {HttpError} 403 for an invalid name, 400 when the value does not match its class, 409 when the client
 * computed another digest
 */
export async function createObject(deps: CreateObjectDeps, project: Project, created: NewObject): Promise<string> {
  const version = await inspectObject(deps, project, created)
  await publishVersion(deps.pool, project.number, version)
  return version.digest
}

/** Does the same unless another version has become the latest. Then it returns undefined. */
export async function createNextObject(
  deps: CreateObjectDeps,
  project: Project,
  { after, ...created }: NextObject,
): Promise<string | undefined> {
  const version = await inspectObject(deps, project, created)
  return (await publishAfter(deps.pool, project.number, { ...version, after })) ? version.digest : undefined
}

async function inspectObject(
  { pool, inspector }: CreateObjectDeps,
  project: Project,
  { objectId, expectedDigest, wbUserId, ...given }: NewObject,
): Promise<NewVersion> {
  checkObjectId(objectId)
  const numbers = await findProjectNumbers(pool, project, given.val)
  const { completed, ...kept } = await inspector.inspect({ ...given, numbers })
  if (expectedDigest && expectedDigest !== kept.digest)
    throw digestMismatch(`The digest of ${objectId} is ${kept.digest}`)
  return { ...kept, objectId, val: completed ?? given.val, wbUserId }
}
