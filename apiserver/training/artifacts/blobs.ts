import { writeToStore } from '../../errors/write-to-store.ts'
import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { findBlobSize } from '../../../db/artifacts/blobs.ts'
import { whileHoldingKey } from '../../../db/store/held-keys.ts'
import { folderOf, keyOf } from '../../../artifacts/layout.ts'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import { sumSizes } from '../../../artifacts/store/sum-sizes.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import {
  keepBlob,
  spoolUpload,
  uploadTooLarge,
  type SpoolDeps,
  type BlobDeps,
  type BlobUploadDeps,
} from './store-files.ts'
import { truncatedBody, withUpload } from './upload.ts'

/** How many bytes of a file are stored, from its beginning without a gap. */
export interface BlobState {
  digest: string
  size: number
  complete: boolean
}

/** A file of an entity. Its digest is the expected SHA-256 of its bytes. */
export interface BlobName {
  entity: string
  digest: string
}

/** The position of a request's bytes in the file. For a whole file, the total is unknown before. */
interface Span {
  start: number
  total: number | undefined
}

interface Part {
  key: string
  start: number
  /** The position after its last byte. */
  end: number
}

/** @throws {HttpError} 404 if nothing of it is stored */
export async function readBlobState(deps: Pick<BlobDeps, 'artifacts' | 'pool'>, name: BlobName): Promise<BlobState> {
  const state = await findState(deps, name)
  if (state.size === 0 && !state.complete) throw notFound('File')
  return state
}

/**
 * Receives a file, or the next part of it. If the connection breaks, the received bytes are kept: the client can ask
 * how many there are and continue there. A complete file is accepted only if it has the digest of the path.
 *
 * @throws {HttpError} 409 if a part would leave a gap, 422 if the bytes have another digest; then everything is dropped
 */
export async function receiveBlob(deps: BlobUploadDeps, name: BlobName, ctx: RequestContext): Promise<BlobState> {
  const span = readSpan(ctx)
  if ((span.total ?? 0) > deps.uploadLimitBytes) throw uploadTooLarge(deps.uploadLimitBytes)
  const before = await findState(deps, name)
  if (before.complete) return before
  if (span.start > before.size) throw gap(before.size)
  // Parts of incomplete files count too.
  const beside = () => sumSizes(deps.artifacts, folderOf('upload', { entity: name.entity }))
  return withUpload(deps, ctx, (incoming) => receivePart(deps, name, { ctx, span, incoming }), beside)
}

async function receivePart(
  deps: BlobUploadDeps,
  name: BlobName,
  { ctx, span, incoming }: { ctx: RequestContext; span: Span; incoming: IncomingBytes },
): Promise<BlobState> {
  const maxBytes = (span.total ?? deps.uploadLimitBytes) - span.start
  const spooled = await spoolUpload(deps, ctx.req, { maxBytes, count: (bytes) => incoming.add(bytes) })
  try {
    return await keepReceived(deps, name, { span, spooled })
  } finally {
    // If the store has adopted the file, it is no longer here.
    await rm(spooled.file, { force: true })
  }
}

async function keepReceived(
  deps: BlobUploadDeps,
  name: BlobName,
  { span, spooled }: { span: Span; spooled: Spooled },
): Promise<BlobState> {
  const isWhole = span.start === 0 && !spooled.broken && (span.total ?? spooled.size) === spooled.size
  if (isWhole) return finishBlob(deps, name, spooled)
  await keepPart(deps, name, span.start, spooled)
  if (spooled.broken) throw truncatedBody()
  const parts = await listParts(deps.artifacts, name)
  const size = measure(parts)
  if (span.total === undefined || size < span.total) return { digest: name.digest, size, complete: false }
  return finishBlob(deps, name, await join(deps, parts, span.total))
}

async function findState(deps: Pick<BlobDeps, 'artifacts' | 'pool'>, name: BlobName): Promise<BlobState> {
  const { digest } = name
  const size = await findBlobSize(deps.pool, name.entity, digest)
  if (size !== undefined) return { digest, size, complete: true }
  return { digest, size: measure(await listParts(deps.artifacts, name)), complete: false }
}

async function finishBlob(deps: BlobDeps, name: BlobName, spooled: Spooled): Promise<BlobState> {
  const isRight = spooled.digest === name.digest
  if (isRight) await keepBlob(deps, name.entity, spooled)
  else await rm(spooled.file, { force: true })
  await writeToStore(deps.log, 'upload', () =>
    deps.artifacts.removeAll(keyOf('upload', { entity: name.entity, digest: name.digest })),
  )
  if (isRight) return { digest: name.digest, size: spooled.size, complete: true }
  const reason = `the uploaded bytes have the sha256 ${spooled.digest}. They were discarded; upload the file again`
  throw unprocessable(valueError(['path', 'digest'], reason))
}

async function keepPart(
  deps: Pick<BlobDeps, 'artifacts' | 'log' | 'pool'>,
  name: BlobName,
  start: number,
  { file, digest, size }: Spooled,
): Promise<void> {
  if (size === 0) return rm(file, { force: true })
  const prefix = keyOf('upload', { entity: name.entity, digest: name.digest })
  const key = `${prefix}/${start}-${start + size}`
  await whileHoldingKey({ pool: deps.pool, schema: 'training' }, prefix, {
    store: () => writeToStore(deps.log, 'upload', () => deps.artifacts.adopt(key, file, { digest, size })),
    // No row refers to a part.
    commit: async () => {},
  })
}

/** Lists the parts of an incomplete file by their positions. */
async function listParts(artifacts: ArtifactStore, { entity, digest }: BlobName): Promise<Part[]> {
  const parts: Part[] = []
  for await (const { key } of artifacts.list(keyOf('upload', { entity, digest }))) {
    const [start = 0, end = 0] = key
      .slice(key.lastIndexOf('/') + 1)
      .split('-')
      .map(Number)
    parts.push({ key, start, end })
  }
  return parts.sort((a, b) => a.start - b.start || b.end - a.end)
}

function measure(parts: Part[]): number {
  return parts.reduce((size, { start, end }) => (start <= size ? Math.max(size, end) : size), 0)
}

async function join(deps: SpoolDeps, parts: Part[], total: number): Promise<Spooled> {
  const spooled = await spoolUpload(deps, Readable.from(readParts(deps.artifacts, parts), { objectMode: false }), {
    maxBytes: total,
  })
  if (!spooled.broken) return spooled
  await rm(spooled.file, { force: true })
  throw spooled.broken
}

/** Reads the bytes of overlapping parts, each byte once. */
async function* readParts(artifacts: ArtifactStore, parts: Part[]): AsyncGenerator<Uint8Array> {
  let size = 0
  for (const { key, start, end } of parts) {
    if (end <= size) continue
    yield* (await artifacts.open(key, { start: size - start })) as AsyncIterable<Uint8Array>
    size = end
  }
}

/** @throws {HttpError} 422 for a Content-Range that is malformed or contradicts the body's length */
function readSpan(ctx: RequestContext): Span {
  const given = ctx.get('Content-Range')
  if (given === '') return { start: 0, total: undefined }
  const [, ...numbers] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(given) ?? []
  const [start = 0, last = -1, total = 0] = numbers.map(Number)
  const length = ctx.request.length
  if (start > last || last >= total || (length !== undefined && length !== last - start + 1)) {
    const reason = 'Content-Range must be "bytes FIRST-LAST/TOTAL" and fit the length of the body'
    throw unprocessable(valueError(['header', 'Content-Range'], reason))
  }
  return { start, total }
}

function gap(size: number): HttpError {
  return new HttpError(errors.conflict, `${size} bytes have arrived. Continue from there.`)
}
