import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { notFound } from '../../../lib/http/http-error.ts'
import { findRun } from '../../../db/runs/find.ts'
import { putRunFile } from '../../../db/runs/files.ts'
import type { RunName } from '../../../db/runs/table.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { keepBlob, type BlobUploadDeps } from '../../training/artifacts/store-files.ts'
import { withSpooledBody } from '../../training/artifacts/upload.ts'
import { maskKeyBytes } from '../../accounts/keys/mask-keys.ts'
import { retryWhenFull } from '../retry-when-full.ts'

// SDKs write the command line of the program into these. They are small.
const maskedFiles = new Set(['wandb-metadata.json', 'config.yaml'])
const maxMaskedBytes = 16 * 1024 * 1024

/** Receives a file of a run. Another file at the same path is replaced. */
export async function receiveRunFile(
  deps: BlobUploadDeps,
  ctx: RequestContext,
  { run: name, path }: { run: RunName; path: string },
): Promise<void> {
  const run = await findRun(deps.pool, name)
  if (!run) throw notFound('Run', name.name)
  const maxBytes = maskedFiles.has(path) ? Math.min(maxMaskedBytes, deps.uploadLimitBytes) : deps.uploadLimitBytes
  const md5 = createHash('md5')
  const source = maskedFiles.has(path) ? Readable.from(maskAll(readBody(ctx)), { objectMode: false }) : ctx.req
  const observe = (chunk: Uint8Array) => void md5.update(chunk)
  const receive = () =>
    withSpooledBody(deps, ctx, { maxBytes, source, observe }, async (spooled) => {
      const blob = await keepBlob(deps, name.entity, spooled)
      const file = { path, ...blob, md5: md5.digest('hex') }
      if (!(await putRunFile(deps.pool, run, file))) throw notFound('Run', name.name)
    })
  await retryWhenFull(receive)
}

/** The end of the iteration must not close the connection, because the answer must still be sent. */
function readBody(ctx: RequestContext): AsyncIterable<Buffer> {
  return ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}

/** The size stays the same. */
async function* maskAll(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    // The limit of the upload rejects it.
    if (size > maxMaskedBytes) yield* [...chunks.splice(0), chunk]
    else chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  maskKeyBytes(bytes)
  yield bytes
}
