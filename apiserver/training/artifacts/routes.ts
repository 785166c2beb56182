import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { Type } from 'typebox'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import type { BlobUploadDeps, ArtifactDeps } from './store-files.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import type { ByteRange } from '../../../lib/http/ranges.ts'
import { sendFile } from '../../../lib/http/send-file.ts'
import { listOf, presentPage } from '../../../lib/http/page.ts'
import { openArtifact } from '../open-artifact.ts'
import { readBlobState, receiveBlob } from './blobs.ts'
import { nameArtifact, nameUpload, nameVersion } from './names.ts'
import { presentArtifact, presentDataSet } from './present.ts'
import {
  artifactSchema,
  blobSchema,
  dataSetListQuery,
  dataSetSchema,
  manifestSchema,
  uploadQuery,
  versionsQuery,
} from './schema.ts'
import { receiveContent } from './upload.ts'
import { getVersion, listOwnDataSets, listVersions, makeVersion } from './versions.ts'

const tag = 'Artifacts'
const path = '/v1/preview/artifacts/{entity}/{project}/{name}'
const bytes = Type.String({ format: 'binary' })
const digestPattern = /^[0-9a-f]{64}$/

/** Uploaded data sets: their versions, which never change, their files, and incomplete files. */
export function routeArtifacts(api: RestApi, deps: ArtifactDeps): void {
  routeVersions(api, deps)
  routeBlobs(api, deps)
}

function routeVersions(api: RestApi, deps: ArtifactDeps): void {
  api.get(
    '/v1/preview/artifacts',
    {
      tag,
      summary: 'List data sets with their newest versions, by project and name',
      query: dataSetListQuery,
      answer: listOf(dataSetSchema),
    },
    async ({ caller, query }) =>
      presentPage(await listOwnDataSets(deps.pool, caller.entity, query), query.limit, presentDataSet),
  )

  api.put(
    path,
    {
      tag,
      summary: 'Upload a version of a data set',
      description:
        'The body is one file (named `file`), form data with several files, or a JSON manifest of files that ' +
        'were uploaded by their digest before. If nothing has changed, the answer is the newest version. SFT ' +
        'data are validated: a file without a conversation, or with invalid lines, is a 422 that names the first ' +
        'ten lines.',
      query: uploadQuery,
      cost: { permit: 'uploads' },
      streamedBody: {
        'application/json': manifestSchema,
        'multipart/form-data': Type.Object({ metadata: Type.Optional(Type.String()) }),
        'application/jsonl': bytes,
        'application/octet-stream': bytes,
      },
      answer: artifactSchema,
      errorStatuses: [400],
    },
    async ({ ctx, caller, params, query, newId }) => {
      const name = nameUpload(caller, params)
      const content = await receiveContent(deps, { ctx, caller, file: query.file, check: query.check })
      return presentArtifact(await makeVersion(deps.pool, { caller, name, newId }, content))
    },
  )

  api.get(
    path,
    { tag, summary: 'Get a version of a data set: NAME, NAME:latest or NAME:v0', answer: artifactSchema },
    async ({ caller, params }) => presentArtifact(await getVersion(deps.pool, nameVersion(caller, params))),
  )

  api.get(
    `${path}/versions`,
    { tag, summary: "List a data set's versions", query: versionsQuery, answer: listOf(artifactSchema) },
    async ({ caller, params, query }) => {
      const rows = await listVersions(deps.pool, nameArtifact(caller, params), query)
      return presentPage(rows, query.limit, presentArtifact)
    },
  )

  api.get(
    `${path}/files/{path*}`,
    {
      tag,
      summary: "Download a version's file, or a range of it",
      description: 'Supports Range, If-Range and If-None-Match. The ETag is the sha256 of the file.',
      otherAnswers: { 'application/octet-stream': bytes },
      otherStatuses: { 206: bytes, 304: Type.Unknown() },
      errorStatuses: [416],
    },
    async ({ ctx, caller, params }) => {
      const version = await getVersion(deps.pool, nameVersion(caller, params))
      const file = version.files.find((each) => each.path === params.path)
      if (!file) throw notFound('File')
      const { digest, size } = file
      const key = await locateBlob(deps.pool, version.entity, digest)
      const open = (range?: ByteRange) => openArtifact(deps.artifacts, key, range)
      await sendFile(ctx, { name: file.path, type: 'application/octet-stream', digest, size, open })
    },
  )
}

function routeBlobs(api: RestApi, deps: BlobUploadDeps): void {
  api.put(
    `${path}/blobs/{digest}`,
    {
      tag,
      summary: 'Upload a file by its sha256, whole or in parts (Content-Range)',
      cost: { permit: 'uploads' },
      streamedBody: { 'application/octet-stream': bytes },
      answer: blobSchema,
      errorStatuses: [400],
    },
    async ({ ctx, caller, params }) => {
      const { entity } = nameUpload(caller, params)
      return receiveBlob(deps, { entity, digest: readDigest(params) }, ctx)
    },
  )

  api.get(
    `${path}/blobs/{digest}`,
    { tag, summary: 'Get how many bytes of a file have arrived', answer: blobSchema },
    async ({ ctx, caller, params }) => {
      const { entity } = nameArtifact(caller, params)
      const { digest } = params
      if (!digestPattern.test(digest)) throw notFound('File')
      const state = await readBlobState(deps, { entity, digest })
      // For HEAD requests.
      ctx.set({ 'Upload-Offset': String(state.size), 'Upload-Complete': state.complete ? '?1' : '?0' })
      return state
    },
  )
}

function readDigest({ digest }: { digest: string }): string {
  if (digestPattern.test(digest)) return digest
  const reason = 'must be the sha256 of the file, in 64 lowercase hexadecimal digits'
  throw unprocessable(valueError(['path', 'digest'], reason))
}
