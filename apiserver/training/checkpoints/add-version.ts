import { keyOf, optimizerFile } from '../../../artifacts/layout.ts'
import { artifactUri } from '../../../artifacts/store/keys.ts'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import type { ArtifactFile } from '../../../db/artifacts/versions.ts'
import { withInvalidation } from '../../../db/changes.ts'
import { addCheckpoint, type AddedCheckpoint } from '../../../db/checkpoints/add.ts'
import { findCheckpointStep } from '../../../db/checkpoints/checkpoints.ts'
import type { ModelRow } from '../../../db/models/models.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import type { Logger } from '../../../lib/log.ts'
import { requireStorage, type LimitDeps } from '../../accounts/limits/service.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import { openArtifact } from '../open-artifact.ts'
import { checkAdapter, type AdapterDeps } from './adapters/check.ts'
import { invalidAdapter } from './adapters/invalid.ts'
import { manifestName } from './files.ts'

/** What adding checkpoints of clients needs. */
export interface AddVersionDeps extends AdapterDeps, LimitDeps {
  log: Logger
}

/** A file of the entity in the store. Its MD5 is in hex. */
export interface ClientFile extends ArtifactFile {
  md5: string
}

/** An adapter that a client has uploaded as a version of a model. */
export interface ClientVersion extends Omit<AddedCheckpoint, 'modelId' | 'uri' | 'manifestDigest' | 'bytes' | 'files'> {
  files: ClientFile[]
}

const maxFiles = 100
const reservedFiles: ReadonlySet<string> = new Set([manifestName, optimizerFile])

/**
 * Makes a checkpoint of an adapter that a client has uploaded. It is served at once, and the model's next job continues
 * from it. A repeated call returns the same step. @throws {HttpError} 422 for files that are no adapter of the model
 */
export async function addVersion(deps: AddVersionDeps, model: ModelRow, version: ClientVersion): Promise<number> {
  const { id, files } = version
  const known = await findCheckpointStep(deps.pool, model.id, id)
  if (known !== undefined) return known
  requirePlainFiles(files)
  await checkAdapter(deps, model, files)
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  await requireStorage(deps, model.entity, bytes)
  const folder = keyOf('checkpoint', { checkpoint: id })
  const manifestDigest = await writeToStore(deps.log, 'checkpoint', () =>
    copyFiles(deps, model.entity, { folder, files }),
  )
  const stored = files.map(({ path, size, md5 }) => ({ path, size, md5, key: `${folder}/${path}` }))
  const added = { ...version, files: stored, modelId: model.id, uri: artifactUri(folder), manifestDigest, bytes }
  const step = await withInvalidation(deps.pool, (connection) => addCheckpoint(connection, added))
  if (step === undefined) {
    await deps.artifacts.removeAll(folder)
    throw notFound('Model', model.id)
  }
  deps.storage.record(model.entity, bytes)
  return step
}

function requirePlainFiles(files: readonly ClientFile[]): void {
  if (files.length > maxFiles) throw invalidAdapter(`There are more than ${maxFiles} files`)
  const reserved = files.find(({ path }) => reservedFiles.has(path))
  if (reserved) throw invalidAdapter(`${reserved.path} is a file of the server's own. Leave it out`)
}

/** Copies files of the entity into a checkpoint, the manifest last. Returns the digest of the manifest. */
async function copyFiles(
  { artifacts, pool }: Pick<AddVersionDeps, 'artifacts' | 'pool'>,
  entity: string,
  { folder, files }: { folder: string; files: readonly ClientFile[] },
): Promise<string> {
  for (const { path, digest } of files) {
    const source = await openArtifact(artifacts, await locateBlob(pool, entity, digest))
    const stored = await artifacts.put(`${folder}/${path}`, source)
    if (stored.digest !== digest) throw new Error(`a stored file is damaged: its digest is not ${digest}`)
  }
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const manifest = { files: Object.fromEntries(sorted.map(({ path, digest }) => [path, digest])) }
  return (await artifacts.put(`${folder}/${manifestName}`, Buffer.from(JSON.stringify(manifest)))).digest
}
