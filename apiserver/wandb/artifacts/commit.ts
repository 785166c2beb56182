import { createHash } from 'node:crypto'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import { commitPending, renewBlobsByMd5, type Committed, type VersionContent } from '../../../db/wandb/changes.ts'
import { findPending, type PendingArtifact } from '../../../db/wandb/pending-artifacts.ts'
import { findVersionById, type Version, type VersionFile } from '../../../db/wandb/versions.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { openArtifact } from '../../training/open-artifact.ts'
import { requireText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import type { Presenter } from './deps.ts'
import { otherType } from './create.ts'
import { readWireId } from './ids.ts'
import { digestManifest, parseManifest, type ManifestFile } from './manifest.ts'
import { presentVersion } from './present.ts'

const maxShownFiles = 5

/**
 * Completes a version: reads its manifest again, and checks that every file is stored. The client may repeat this: the
 * version is then complete already.
 */
export async function commitArtifact(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { deps, context } = presenter
  const id = readWireId(requireText(input, 'artifactID'))
  const pending = await findPending(deps.pool, context.caller.entity, id)
  if (pending) {
    const content = await readContent(presenter, pending)
    if (!(await deps.checkpoints.commit(pending, content)))
      requireCommitted(pending, await commitPending(deps.pool, pending, content))
  }
  return { artifact: presentVersion(presenter, await requireVersion(presenter, id)) }
}

/** @throws {HttpError} 404 */
export async function requireVersion({ deps, context }: Presenter, id: string): Promise<Version> {
  const version = await findVersionById(deps.pool, context.caller.entity, id)
  if (!version) throw notFound('Artifact', id)
  return version
}

async function readContent(presenter: Presenter, pending: PendingArtifact): Promise<VersionContent> {
  const listed = parseManifest(await readManifest(presenter, pending))
  const digest = digestManifest(listed)
  if (digest !== pending.digest) {
    const reason = `The artifact was created with the digest ${pending.digest}, and its manifest has the digest ${digest}.`
    throw new HttpError(errors.digest_mismatch, reason)
  }
  const files = await findStored(presenter, listed)
  const { metadata } = pending
  const plain = files.map(({ path, digest: sha256, size }) => ({ path, digest: sha256, size }))
  return {
    files,
    // The same as of an upload by address.
    digest: createHash('sha256')
      .update(JSON.stringify({ files: plain, metadata }))
      .digest('hex'),
    size: files.reduce((sum, file) => sum + file.size, 0),
  }
}

async function readManifest({ deps, context }: Presenter, pending: PendingArtifact): Promise<Buffer> {
  const { entity, manifestBlob: digest } = pending
  if (digest === null) throw new HttpError(errors.bad_request, 'The manifest of the artifact was not uploaded.')
  const source = await openArtifact(deps.artifacts, await locateBlob(deps.pool, entity, digest))
  const bytes = await deps.memory.open(context.ctx).read(source)
  if (createHash('md5').update(bytes).digest('hex') === pending.manifestMd5) return bytes
  throw new HttpError(
    errors.digest_mismatch,
    "The digest of the artifact's manifest differs from the one that was announced.",
  )
}

/** The files with their keys in the store. @throws {HttpError} 400 if some are not there */
async function findStored({ deps, context }: Presenter, listed: ManifestFile[]): Promise<VersionFile[]> {
  const md5s = [...new Set(listed.map(({ md5 }) => md5).filter((md5) => md5 !== undefined))]
  const blobs = await renewBlobsByMd5(deps.pool, context.caller.entity, md5s)
  const digests = new Map(blobs.map(({ md5, size, digest }) => [`${md5} ${size}`, digest]))
  const digestOf = ({ md5, size }: ManifestFile) => digests.get(`${md5} ${size}`)
  const missing = listed.filter((file) => file.ref === undefined && digestOf(file) === undefined)
  if (missing.length > 0) throw missingFiles(missing.map(({ path }) => path))
  return listed.map((file) => {
    const digest = file.ref === undefined ? digestOf(file) : undefined
    return { ...file, ...(digest !== undefined && { digest }) }
  })
}

function requireCommitted({ name }: PendingArtifact, committed: Committed): void {
  if (committed === 'committed') return
  throw 'missing' in committed ? missingFiles(committed.missing) : otherType(name, committed.otherType)
}

function missingFiles(paths: string[]): HttpError {
  const shown = paths.slice(0, maxShownFiles).join(', ').slice(0, 500)
  return new HttpError(
    errors.bad_request,
    `${paths.length} files of the artifact are not stored, or have another size: ${shown}. Upload them first.`,
  )
}
