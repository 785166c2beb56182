import { missing, digestMismatch } from '../errors.ts'
import { keyOf } from '../../../artifacts/layout.ts'
import type { Readable } from 'node:stream'
import { addFile, findFile, hasFile, type FileStorage } from '../../../db/tracing/files.ts'
import { whileHoldingKey } from '../../../db/store/held-keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { Pool } from '../../../db/pool.ts'
import { presentDigest } from '../digests.ts'
import type { Project } from '../projects.ts'
import type { FileContent } from './content.ts'

export interface FileDeps {
  artifacts: ArtifactStore
  pool: Pool
}

/**
 * Stores a file of a project under its digest. A second upload of the same file stores nothing. A large file is
 * complete in the artifact store before its row is written.
 *
 * @throws {HttpError} 409 when the client expects another digest
 */
export async function keepFile(
  deps: FileDeps,
  project: Project,
  { content, expectedDigest }: { content: FileContent; expectedDigest: string | undefined },
): Promise<string> {
  const digest = presentDigest(content.sha256)
  if (expectedDigest !== undefined && expectedDigest !== digest)
    throw digestMismatch(`The digest of the file is ${digest}`)
  if (await hasFile(deps.pool, project.number, digest)) return digest
  const { pool } = deps
  const add = (storage: FileStorage) => addFile(pool, project.number, { digest, size: content.size, storage })
  if ('bytes' in content) await add({ content: content.bytes })
  else await storeLarge(deps, { project, content }, add)
  return digest
}

async function storeLarge(
  { pool, artifacts }: FileDeps,
  { project, content }: { project: Project; content: Extract<FileContent, { spooled: string }> },
  add: (storage: FileStorage) => Promise<void>,
): Promise<void> {
  const sha256 = content.sha256.toString('hex')
  const artifactKey = keyOf('traceFile', { entity: project.entity, project: project.number, digest: sha256 })
  await whileHoldingKey({ pool, schema: 'tracing' }, artifactKey, {
    store: () => artifacts.adopt(artifactKey, content.spooled, { digest: sha256, size: content.size }),
    commit: () => add({ artifactKey }),
  })
}

/** Reads a file. @throws {HttpError} 404 */
export async function openFile(
  { pool, artifacts }: FileDeps,
  project: Project,
  digest: string,
): Promise<{ size: number; body: Buffer | Readable }> {
  const file = await findFile(pool, project.number, digest)
  if (!file) throw missing(`File ${digest.slice(0, 200)} not found`)
  if (file.content) return { size: file.size, body: file.content }
  try {
    return { size: file.size, body: await artifacts.open(file.artifactKey!) }
  } catch (error) {
    if (error instanceof ArtifactMissing) throw missing(`File ${digest} not found`)
    throw error
  }
}
