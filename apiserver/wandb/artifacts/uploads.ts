import { createHash } from 'node:crypto'
import { recordMd5 } from '../../../db/wandb/changes.ts'
import { findPending, recordManifest } from '../../../db/wandb/pending-artifacts.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { permitLimits } from '../../accounts/limits/table.ts'
import { storeBody, wrongDigest } from '../../training/artifacts/exact-body.ts'
import { keepBlob, uploadTooLarge } from '../../training/artifacts/store-files.ts'
import { keepStreamed } from '../../training/artifacts/streamed-blobs.ts'
import { withSpooledBody, withUpload } from '../../training/artifacts/upload.ts'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import type { WandbArtifactDeps } from './deps.ts'
import { readWireId } from './ids.ts'
import { toBase64 } from './manifest.ts'

// 20,000 files with long names.
const maxManifestBytes = 16 * 1024 * 1024
// Bodies up to this size need no permit. If they went to the store as they arrive, slow clients could take all connections
// to a bucket. So they go there in one piece, from the local disk.
const { freeBodyBytes: spooledUpToBytes = 0 } = permitLimits.uploads

/** Where an upload goes, as its link says. */
export interface Upload {
  entity: string
  /** Of its bytes, in hex. */
  md5: string
}

/** Receives a file and stores it once per entity. @throws {HttpError} 400 if its bytes have another MD5 */
export async function receiveFile(deps: WandbArtifactDeps, ctx: RequestContext, upload: Upload): Promise<void> {
  requireAnnounced(ctx, upload)
  const size = streamedSize(ctx)
  const digest =
    size === undefined
      ? await receiveSpooled(deps, ctx, { ...upload, maxBytes: deps.uploadLimitBytes })
      : await receiveStreamed(deps, ctx, { ...upload, size })
  await recordMd5(deps.pool, upload.entity, digest, upload.md5)
}

/** Receives the manifest of a version. It is read when the version is committed. */
export async function receiveManifest(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, md5, id }: Upload & { id: string },
): Promise<void> {
  requireAnnounced(ctx, { md5 })
  const pending = await findPending(deps.pool, entity, readWireId(id))
  if (!pending) throw notFound('Artifact', id)
  if ((ctx.request.length ?? 0) > maxManifestBytes) throw uploadTooLarge(maxManifestBytes)
  const blob = await receiveSpooled(deps, ctx, { entity, md5, maxBytes: maxManifestBytes })
  await recordMd5(deps.pool, entity, blob, md5)
  await recordManifest(deps.pool, pending.id, { md5, blob })
}

/** The size of a body that goes to the store as it arrives. Undefined: it is small, or its size is unknown. */
export function streamedSize({ request: { length } }: RequestContext): number | undefined {
  return length !== undefined && length > spooledUpToBytes ? length : undefined
}

/** Requires that a request announces the MD5 of its link, or none. */
export function requireAnnounced(ctx: RequestContext, { md5 }: { md5: string }): void {
  const announced = ctx.get('Content-MD5')
  if (announced !== '' && announced !== toBase64(md5)) throw wrongDigest(md5)
}

/** Spools a body, and checks its MD5. */
export function withCheckedBody<T>(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { md5, maxBytes }: { md5: string; maxBytes: number },
  work: (spooled: Spooled) => Promise<T>,
): Promise<T> {
  const hash = createHash('md5')
  const observe = (chunk: Uint8Array) => void hash.update(chunk)
  return withSpooledBody(deps, ctx, { maxBytes, observe }, (spooled) => {
    if (hash.digest('hex') !== md5) throw wrongDigest(md5)
    return work(spooled)
  })
}

/** Returns the sha256 of the stored bytes. */
async function receiveSpooled(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, ...bounds }: Upload & { maxBytes: number },
): Promise<string> {
  return withCheckedBody(deps, ctx, bounds, async (spooled) => (await keepBlob(deps, entity, spooled)).digest)
}

/** Returns the sha256 of the stored bytes. */
function receiveStreamed(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  file: Upload & { size: number },
): Promise<string> {
  return withUpload(deps, ctx, async (incoming) => {
    const { digest } = await keepStreamed(deps, file, async (target) => {
      const stored = await storeBody(deps, { body: ctx.req, incoming }, target)
      return stored
    })
    return digest
  })
}
