import { createHash } from 'node:crypto'
import { recordMd5 } from '../../../db/wandb/changes.ts'
import { findPending, recordManifest } from '../../../db/wandb/pending.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { errors } from '../../errors/table.ts'
import { keepBlob, uploadTooLarge } from '../../training/artifacts/store-files.ts'
import { withSpooledBody } from '../../training/artifacts/upload.ts'
import type { WandbArtifactDeps } from './deps.ts'
import { readWireId } from './ids.ts'
import { toBase64 } from './manifest.ts'

// 20,000 files with long names.
const maxManifestBytes = 16 * 1024 * 1024

/** Where an upload goes, as its link says. */
export interface Upload {
  entity: string
  /** Of its bytes, in hex. */
  md5: string
}

/** Receives a file and stores it once per entity. @throws {HttpError} 400 if its bytes have another MD5 */
export async function receiveFile(deps: WandbArtifactDeps, ctx: RequestContext, upload: Upload): Promise<void> {
  await receive(deps, ctx, { ...upload, maxBytes: deps.uploadLimitBytes })
}

/** Receives the manifest of a version. It is read when the version is committed. */
export async function receiveManifest(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, md5, id }: Upload & { id: string },
): Promise<void> {
  const pending = await findPending(deps.pool, entity, readWireId(id))
  if (!pending) throw notFound('Artifact', id)
  if ((ctx.request.length ?? 0) > maxManifestBytes) throw uploadTooLarge(maxManifestBytes)
  const blob = await receive(deps, ctx, { entity, md5, maxBytes: maxManifestBytes })
  await recordManifest(deps.pool, pending.id, { md5, blob })
}

/** Returns the sha256 of the stored bytes. */
async function receive(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, md5, maxBytes }: Upload & { maxBytes: number },
): Promise<string> {
  const announced = ctx.get('Content-MD5')
  if (announced !== '' && announced !== toBase64(md5)) throw wrongDigest(md5)
  const hash = createHash('md5')
  const observe = (chunk: Uint8Array) => void hash.update(chunk)
  return withSpooledBody(deps, ctx, { maxBytes, observe }, async (spooled) => {
    if (hash.digest('hex') !== md5) throw wrongDigest(md5)
    const { digest } = await keepBlob(deps, entity, spooled)
    await recordMd5(deps.pool, entity, digest, md5)
    return digest
  })
}

function wrongDigest(md5: string): HttpError {
  return new HttpError(errors.bad_request, `The body does not have the MD5 ${md5}. Nothing was stored.`)
}
