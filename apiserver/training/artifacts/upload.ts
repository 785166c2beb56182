import { HttpError, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import type { ArtifactFile } from '../../../db/artifacts/versions.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import { parseJson } from '../../../lib/json/document.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { linger } from '../../../lib/http/body.ts'
import type { Caller, RequestContext } from '../../accounts/context.ts'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { checkData, checkStoredData, type DataCheck } from './check-data.ts'
import { readMultipart, type VersionForm } from './multipart.ts'
import { isFilePath, isMetadata, manifestSchema } from './schema.ts'
import { keepBlob, spoolUpload, uploadTooLarge, type ArtifactDeps, type SpoolDeps } from './store-files.ts'
import { checkPaths, invalidPath, type VersionContent } from './versions.ts'

const parseManifest = compileBody(manifestSchema)
// Enough for a thousand files with long paths.
const manifestLimitBytes = 2 * 1024 * 1024
const defaultFile = 'train.jsonl'

/** An upload whose client is allowed to make it. */
export interface UploadRequest {
  ctx: RequestContext
  caller: Caller
  /** The name for a body that is one file. Without it, a JSON body is a manifest. */
  file: string | undefined
  /** How to check the files. By default, `train.jsonl` and `trajectories.jsonl` must be SFT data. */
  check: DataCheck
}

/** Receives a version's files in any form: as form data, as a manifest of stored files, or as one body. */
export async function receiveContent(deps: ArtifactDeps, request: UploadRequest): Promise<VersionContent> {
  const { ctx, file } = request
  const type = ctx.get('Content-Type')
  if (/^multipart\/form-data\s*;/i.test(type)) return receiveForm(deps, request)
  if (file === undefined && /^application\/json\s*(;|$)/i.test(type)) return readManifest(deps, request)
  return receiveFile(deps, request)
}

/**
 * Accepts an upload's body, after all checks that need no body. Its bytes count until `work` has ended, and so do those
 * in `beside`.
 *
 * @throws {HttpError} 403, 413, 415, 429
 */
export async function withUpload<T>(
  deps: Pick<ArtifactDeps, 'storage' | 'uploadLimitBytes'>,
  ctx: RequestContext,
  work: (incoming: IncomingBytes) => Promise<T>,
  beside?: () => Promise<number>,
): Promise<T> {
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding')))
    throw new HttpError(
      errors.unsupported_media_type,
      'Compressed bodies are not supported. Send the body without Content-Encoding.',
    )
  if ((ctx.request.length ?? 0) > deps.uploadLimitBytes) throw uploadTooLarge(deps.uploadLimitBytes)
  const incoming = await deps.storage.receive(ctx, beside)
  try {
    if (ctx.get('Expect').toLowerCase() === '100-continue') ctx.res.writeContinue()
    return await work(incoming)
  } catch (error) {
    linger(ctx)
    throw error
  } finally {
    incoming.release()
  }
}

/** A body that is one file. */
export interface SingleBody {
  maxBytes: number
  /** What is stored. By default the body itself. */
  source?: Readable
  /** Gets the bytes as they arrive. */
  observe?: (chunk: Uint8Array) => void
}

/**
 * Accepts a body that is one file, and spools it for `work`. The spooled file is then removed, unless the store has
 * adopted it.
 *
 * @throws {HttpError} 400 if the body ends too early, 403, 413, 415, 429
 */
export function withSpooledBody<T>(
  deps: SpoolDeps & Pick<ArtifactDeps, 'storage'>,
  ctx: RequestContext,
  { maxBytes, source = ctx.req, observe }: SingleBody,
  work: (spooled: Spooled) => Promise<T>,
): Promise<T> {
  return withUpload(deps, ctx, async (incoming) => {
    const count = (bytes: number, chunk: Uint8Array) => {
      incoming.add(bytes)
      observe?.(chunk)
    }
    const spooled = await spoolUpload(deps, source, { maxBytes, count })
    try {
      if (spooled.broken) throw truncatedBody()
      return await work(spooled)
    } finally {
      await rm(spooled.file, { force: true })
    }
  })
}

export function truncatedBody(): HttpError {
  return new HttpError(errors.truncated_body, 'The body ended too early.', { headers: { Connection: 'close' } })
}

function receiveFile(deps: ArtifactDeps, { ctx, caller, file, check }: UploadRequest): Promise<VersionContent> {
  const path = file ?? defaultFile
  if (!isFilePath(path)) throw invalidPath(path, 'not a valid file path')
  return withSpooledBody(deps, ctx, { maxBytes: deps.uploadLimitBytes }, async (spooled) => {
    await checkData(deps.bodies, { path, spooled }, check)
    return { files: [{ path, ...(await keepBlob(deps, caller.entity, spooled)) }], metadata: {} }
  })
}

async function readManifest(deps: ArtifactDeps, { ctx, caller, check }: UploadRequest): Promise<VersionContent> {
  const { files, metadata } = parseManifest(await deps.memory.readJson(ctx, manifestLimitBytes))
  const plain = files.map(({ path, digest, size }) => ({ path, digest, size }))
  const content = { files: plain, metadata: checkMetadata(metadata ?? {}) }
  await checkStoredData(deps, { entity: caller.entity, files: plain }, check)
  return content
}

function receiveForm(deps: ArtifactDeps, { ctx, caller, check }: UploadRequest): Promise<VersionContent> {
  return withUpload(deps, ctx, async (incoming) => {
    const form = await readMultipart(deps, ctx, incoming)
    return keepForm(deps, { entity: caller.entity, form }, check)
  })
}

async function keepForm(
  deps: ArtifactDeps,
  { entity, form }: { entity: string; form: VersionForm },
  check: DataCheck,
): Promise<VersionContent> {
  try {
    const metadata = checkMetadata(form.metadata === undefined ? {} : parseMetadata(form.metadata))
    checkPaths(form.files)
    for (const file of form.files) await checkData(deps.bodies, file, check)
    const files: ArtifactFile[] = []
    for (const { path, spooled } of form.files) {
      files.push({ path, ...(await keepBlob(deps, entity, spooled)) })
    }
    return { files, metadata }
  } finally {
    // If the store has adopted a file, it is no longer here.
    for (const { spooled } of form.files) await rm(spooled.file, { force: true })
  }
}

function parseMetadata(text: string): unknown {
  try {
    return parseJson(Buffer.from(text)).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

/** @throws {HttpError} 422 */
function checkMetadata(metadata: unknown): Record<string, unknown> {
  if (isMetadata(metadata)) return metadata
  const reason = 'metadata is a JSON object of at most 65536 characters'
  throw unprocessable(valueError(['body', 'metadata'], reason))
}
