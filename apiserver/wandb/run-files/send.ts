import type { ArtifactStore, ByteRange } from '../../../artifacts/store/store.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import { sendFile } from '../../../lib/http/send-file.ts'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import { findRunFile } from '../../../db/runs/files.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { openArtifact } from '../../training/open-artifact.ts'

/** Sends a file of a run. @throws {HttpError} 404 */
export async function sendRunFile(
  deps: { artifacts: ArtifactStore; pool: Pool },
  ctx: RequestContext,
  { entity, run, path: name }: { entity: string; run: number; path: string },
): Promise<void> {
  const file = await findRunFile(deps.pool, run, name)
  if (!file) throw notFound('File')
  const { digest, size } = file
  const key = await locateBlob(deps.pool, entity, digest)
  const open = (range?: ByteRange) => openArtifact(deps.artifacts, key, range)
  await sendFile(ctx, { name, type: 'application/octet-stream', digest, size, open })
}
