import { Type } from 'typebox'
import { findBlobSize } from '../../../db/artifacts/blobs.ts'
import { findVersionById, type Version, type VersionFile } from '../../../db/wandb/versions.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import type { ByteRange } from '../../../lib/http/ranges.ts'
import { sendFile } from '../../../lib/http/send-file.ts'
import type { Caller, RequestContext } from '../../accounts/context.ts'
import { openArtifact } from '../../training/open-artifact.ts'
import type { WandbApi } from '../wandb-api.ts'
import type { WandbArtifactDeps } from './deps.ts'
import { listDigestedFiles, locateFile } from './digests.ts'
import { readWireId } from './ids.ts'
import { writeManifest } from './manifest.ts'
import { receivePart } from './parts.ts'
import { receiveFile, receiveManifest } from './uploads.ts'

const tag = 'W&B'
const bytes = Type.String({ format: 'binary' })
const download = { 'application/octet-stream': bytes }
const md5Pattern = /^[0-9a-f]{32}$/
const digestPattern = /^[0-9a-f]{64}$/

/** What links lead to. A link names its entity, and works only for a key of it. */
export function routeArtifactLinks(api: WandbApi, deps: WandbArtifactDeps): void {
  routeUploads(api, deps)
  api.get(
    '/v1/links/{entity}/blobs/{digest}',
    { tag, summary: 'Download a file of an artifact', otherAnswers: download, errorStatuses: [416] },
    async ({ ctx, caller, params }) => {
      requireOwn(caller, params)
      await sendBlob(deps, ctx, params)
    },
  )
  api.get(
    '/v1/links/{entity}/manifests/{id}',
    { tag, summary: 'Download the manifest of an artifact', answer: Type.Object({}) },
    async ({ caller, params }) => {
      requireOwn(caller, params)
      const version = await requireVersion(deps, params)
      return writeManifest(params.id, await listDigestedFiles(deps, version))
    },
  )
  api.get(
    '/v1/links/{entity}/versions/{id}/files/{path*}',
    { tag, summary: 'Download a file of an artifact by its path', otherAnswers: download, errorStatuses: [416] },
    async ({ ctx, caller, params }) => {
      requireOwn(caller, params)
      const version = await requireVersion(deps, params)
      const files = await listDigestedFiles(deps, version)
      await sendVersionFile(deps, ctx, { ...params, file: files.find(({ path }) => path === params.path) })
    },
  )
}

function routeUploads(api: WandbApi, deps: WandbArtifactDeps): void {
  const shared = { tag, streamedBody: download, cost: { permit: 'uploads' }, errorStatuses: [400] } as const
  api.put(
    '/v1/links/{entity}/uploads/{md5}',
    { ...shared, summary: 'Upload a file of an artifact', answer: Type.Object({}) },
    async ({ ctx, caller, params }) => {
      requireOwn(caller, params)
      requireMd5(params)
      await receiveFile(deps, ctx, params)
      ctx.set('ETag', `"${params.md5}"`)
      return {}
    },
  )
  api.put(
    '/v1/links/{entity}/uploads/{md5}/parts/{id}/{part}/{partMd5}',
    { ...shared, summary: 'Upload a part of a file of an artifact', answer: Type.Object({}) },
    async ({ ctx, caller, params }) => {
      requireOwn(caller, params)
      await receivePart(deps, ctx, params)
      ctx.set('ETag', `"${params.partMd5}"`)
      return {}
    },
  )
  api.put(
    '/v1/links/{entity}/manifests/{id}/{md5}',
    { ...shared, summary: 'Upload the manifest of an artifact', answer: Type.Object({}) },
    async ({ ctx, caller, params }) => {
      requireOwn(caller, params)
      requireMd5(params)
      await receiveManifest(deps, ctx, params)
      return {}
    },
  )
}

/** Where the SDK looks for a file when its link has expired. It sends its key there. */
export function routeArtifactFallback(api: WandbApi, deps: WandbArtifactDeps): void {
  const operation = { tag, summary: 'Download a file of an artifact by its MD5', otherAnswers: download }
  api.get('/artifactsV2/{region}/{entity}/{id}/{md5}', operation, ({ ctx, caller, params }) =>
    sendByMd5(deps, ctx, { ...params, caller }),
  )
  api.get(
    '/artifactsV2/{region}/{entity}/{project}/{collection}/{id}/{md5}/{path*}',
    operation,
    ({ ctx, caller, params }) => sendByMd5(deps, ctx, { ...params, caller }),
  )
}

async function sendByMd5(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { caller, entity, id, md5 }: { caller: Caller; entity: string; id: string; md5: string },
): Promise<void> {
  requireOwn(caller, { entity })
  const version = await requireVersion(deps, { entity, id })
  const files = await listDigestedFiles(deps, version)
  await sendVersionFile(deps, ctx, { entity, file: files.find((file) => file.ref === undefined && file.md5 === md5) })
}

async function sendBlob(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, digest }: { entity: string; digest: string },
): Promise<void> {
  const size = digestPattern.test(digest) ? await findBlobSize(deps.pool, entity, digest) : undefined
  if (size === undefined) throw notFound('File')
  await sendVersionFile(deps, ctx, { entity, file: { path: digest, digest, size } })
}

async function sendVersionFile(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { entity, file }: { entity: string; file: VersionFile | undefined },
): Promise<void> {
  const key = file && (await locateFile(deps.pool, entity, file))
  if (!file || key === undefined) throw notFound('File')
  // Listed files have one of the two digests.
  const { path, size, digest = file.md5! } = file
  const open = (range?: ByteRange) => openArtifact(deps.artifacts, key, range)
  await sendFile(ctx, { name: path, type: 'application/octet-stream', digest, size, open })
}

async function requireVersion(
  { pool }: WandbArtifactDeps,
  { entity, id }: { entity: string; id: string },
): Promise<Version> {
  const version = await findVersionById(pool, entity, readWireId(id))
  if (!version) throw notFound('Artifact')
  return version
}

/** @throws {HttpError} 404 for the files of another entity */
function requireOwn(caller: Caller, { entity }: { entity: string }): void {
  if (entity !== caller.entity) throw notFound('File')
}

function requireMd5({ md5 }: { md5: string }): void {
  if (!md5Pattern.test(md5)) throw notFound('File')
}
