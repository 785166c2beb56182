import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { createHash } from 'node:crypto'
import {
  addArtifactVersion,
  findArtifactCursor,
  findArtifactVersion,
  listArtifactVersions,
  type ArtifactFile,
  type ArtifactName,
  type ArtifactVersion,
} from '../../../db/artifacts/versions.ts'
import { findDataSetPosition, listDataSets, type DataSetRow } from '../../../db/artifacts/data-sets.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { resolveCursor, type OrderedPageQuery } from '../../../lib/http/page.ts'
import type { VersionName } from './names.ts'
import { isFilePath, type DataSetListQuery } from './schema.ts'

/** The content of a version. Its files are stored. */
export interface VersionContent {
  files: ArtifactFile[]
  metadata: Record<string, unknown>
}

/** Creates the next version of a data set, or returns the newest one if it is equal. */
export async function makeVersion(
  pool: Pool,
  { caller, name, newId }: { caller: Caller; name: ArtifactName; newId: () => string },
  content: VersionContent,
): Promise<ArtifactVersion> {
  checkPaths(content.files)
  const files = content.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const size = files.reduce((sum, file) => sum + file.size, 0)
  const { metadata } = content
  const digest = createHash('sha256').update(JSON.stringify({ files, metadata })).digest('hex')
  const version = { ...name, id: newId(), keyId: caller.keyId, digest, size, files, metadata }
  const made = await addArtifactVersion(pool, version)
  if ('missing' in made) throw missingFiles(content.files, made.missing)
  return made
}

/** @throws {HttpError} 404 */
export async function getVersion(pool: Pool, { version, ...name }: VersionName): Promise<ArtifactVersion> {
  const found = await findArtifactVersion(pool, name, version)
  if (!found) throw notFound('Artifact')
  return found
}

/** Lists one version more than the limit, which shows whether more follow. */
export async function listVersions(
  pool: Pool,
  name: ArtifactName,
  { after, limit, order }: OrderedPageQuery,
): Promise<ArtifactVersion[]> {
  await getVersion(pool, { ...name, version: 'latest' })
  const version = await resolveCursor(after, (cursor) => findArtifactCursor(pool, name, cursor))
  return listArtifactVersions(pool, name, { after: version, order, limit: limit + 1 })
}

/** Lists one data set more than the limit, which shows whether more follow. */
export async function listOwnDataSets(
  pool: Pool,
  entity: string,
  { project, type, after, limit, order }: DataSetListQuery,
): Promise<DataSetRow[]> {
  const filter = { entity, project, type }
  const position = await resolveCursor(after, (cursor) => findDataSetPosition(pool, filter, cursor))
  return listDataSets(pool, filter, { after: position, order, limit: limit + 1 })
}

/** @throws {HttpError} 422 for paths that lead out of the version, and for duplicates */
export function checkPaths(files: { path: string }[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (!isFilePath(path))
      throw invalidPath(path, 'a path must be relative, and must not contain "..", backslashes or control characters')
    if (seen.has(path)) throw invalidPath(path, 'two files have the same path')
    seen.add(path)
  }
}

export function invalidPath(path: string, reason: string) {
  const shown = JSON.stringify(path.slice(0, 100))
  return unprocessable(valueError(['body', 'files'], `${shown}: ${reason}`))
}

function missingFiles(files: ArtifactFile[], missing: ArtifactFile[]) {
  const issues = missing
    .slice(0, 100)
    .map((file) =>
      valueError(
        ['body', 'files', String(files.findIndex(({ path }) => path === file.path)), 'digest'],
        'no file with this digest and size exists; upload it first',
      ),
    )
  return unprocessable(...issues)
}
