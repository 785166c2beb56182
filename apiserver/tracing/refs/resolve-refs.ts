import { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest } from '../errors.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { truncate } from '../truncate.ts'
import type { Project, ProjectDeps } from '../projects.ts'
import { checkNames } from '../query/params.ts'
import type { ReadMemory } from '../read-memory.ts'
import { parseRef, tryParseRef, type ObjectRef } from './parse-ref.ts'
import { maxRefBytes, RefReader, type RefBounds } from './ref-reader.ts'

/**
 * Resolves references to objects and their parts. Returns JSON texts in the order of the references. A missing part is
 * null, and so is everything in a deleted object.
 *
 * @throws {HttpError} 400 for an invalid reference, 403 for one of another entity, 404 for a missing object or row, 413
 * for values that are too large together; and what `bounds.reserve` throws
 */
export async function resolveRefs(
  deps: ProjectDeps,
  { caller, bounds }: { caller: Caller; bounds: RefBounds },
  uris: string[],
): Promise<string[]> {
  checkNames(uris)
  const refs = new Map(uris.map((uri) => [uri, parseObjectRef(uri)]))
  const texts = new Map<string, string>()
  for (const [projectId, ofProject] of Map.groupBy(refs, ([, ref]) => ref.projectId)) {
    const project = await deps.projects.find(caller, projectId)
    const resolved = await new RefReader(deps.pool, project, bounds).resolve(ofProject.map(([, ref]) => ref))
    for (const [index, text] of resolved.entries()) {
      if (text instanceof HttpError) throw text
      texts.set(ofProject[index]![0], text)
    }
  }
  return uris.map((uri) => texts.get(uri)!)
}

/**
 * Resolves references in stored payloads, which may be invalid. The result leaves out references that are invalid, that
 * lead to another project, that have no value, or that are too large together.
 *
 * @throws {HttpError} 413, 429 or 503 when there is not enough memory
 */
export async function resolveStoredRefs(
  { pool, reading }: { pool: Pool; reading: Pick<ReadMemory, 'add'> },
  project: Project,
  uris: Iterable<string>,
): Promise<Map<string, string>> {
  const refs = [...new Set(uris)].flatMap((uri) => {
    const ref = tryParseRef(uri)
    return ref && 'edges' in ref && ref.projectId === project.id ? [{ uri, ref }] : []
  })
  const reader = new RefReader(pool, project, { maxBytes: maxRefBytes, reserve: reading.add })
  const resolved = await reader.resolve(refs.map(({ ref }) => ref))
  const texts = new Map<string, string>()
  for (const [index, text] of resolved.entries()) if (typeof text === 'string') texts.set(refs[index]!.uri, text)
  return texts
}

function parseObjectRef(uri: string): ObjectRef {
  const ref = parseRef(uri)
  if ('edges' in ref) return ref
  throw badRequest(`Invalid ref: ${truncate(uri)} does not name an object or an op`)
}
