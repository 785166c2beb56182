import { badRequest, missing } from '../errors.ts'
import { listObjectAliases } from '../../../db/tracing/object-labels.ts'
import { deleteVersions } from '../../../db/tracing/objects.ts'
import { truncate } from '../truncate.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Project } from '../projects.ts'
import { checkNames } from '../query/params.ts'
import { readSelector } from './object-names.ts'

const maxVersions = 100

/**
 * Deletes versions of an object, or all versions if none are named. Returns how many were deleted. Nothing is deleted
 * unless all named versions exist.
 *
 * @throws {HttpError} 400 for too many versions, 404 for a missing one
 */
export async function deleteObject(
  pool: Pool,
  { number }: Project,
  { objectId, digests }: { objectId: string; digests: string[] | null },
): Promise<number> {
  if (digests && digests.length > maxVersions) throw badRequest(`One request deletes at most ${maxVersions} versions`)
  checkNames(digests)
  const named = digests?.length ? new Set(digests) : undefined
  const aliases = named ? await listObjectAliases(pool, number, { objectId, aliases: [...named] }) : new Map()
  return deleteVersions(pool, { project: number, objectId }, (live) => {
    const groups = named ? [...named].map((name) => live.filter((version) => isNamed(version, name, aliases))) : [live]
    // A name may match an op and an object, and several names may match one version.
    if (groups.every((found) => found.length > 0)) return groups.flat().map(({ digest }) => digest)
    throw missing(`Object ${objectId} (${truncate([...(named ?? ['all'])].join(', '))}) not found when deleting.`)
  })
}

function isNamed(
  version: { digest: string; versionIndex: number; isLatest: boolean },
  name: string,
  aliases: ReadonlyMap<string, string>,
): boolean {
  const selector = readSelector(name)
  if (selector === 'latest') return version.isLatest
  if ('index' in selector) return version.versionIndex === selector.index
  return version.digest === name || version.digest === aliases.get(name)
}
