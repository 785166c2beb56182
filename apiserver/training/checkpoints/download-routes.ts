import { notFound } from '../../../lib/http/http-error.ts'
import { Type } from 'typebox'
import { keyOf } from '../../../artifacts/layout.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import type { PathParams } from '../../../lib/http/operation.ts'
import type { ByteRange } from '../../../lib/http/ranges.ts'
import { sendFile } from '../../../lib/http/send-file.ts'
import { openArtifact } from '../open-artifact.ts'
import { listOf } from '../../../lib/http/page.ts'
import { getModel } from '../models/service.ts'
import { archiveCheckpoint } from './archive.ts'
import { listCheckpointFiles } from './files.ts'
import { presentFileList } from './present.ts'
import { fileSchema } from './schema.ts'
import { getCheckpoint, type CheckpointDeps } from './service.ts'

const tag = 'Checkpoints'
const path = '/v1/preview/models/{model_id}/checkpoints/{step}'
const bytes = Type.String({ format: 'binary' })
const parquet = 'application/vnd.apache.parquet'

/** Serves a checkpoint as a plain PEFT folder: its files one by one, or all in a tar. */
export function routeDownloads(api: RestApi, deps: CheckpointDeps): void {
  const find = (entity: string, params: PathParams<typeof path>) =>
    getCheckpoint(deps.pool, entity, params.model_id, params.step)

  api.get(
    `${path}/files`,
    { tag, summary: 'List the files of a checkpoint', answer: listOf(fileSchema) },
    async ({ caller, params }) => {
      const checkpoint = await find(caller.entity, params)
      return presentFileList(await listCheckpointFiles(deps.artifacts, checkpoint))
    },
  )

  api.get(
    `${path}/files/{path*}`,
    {
      tag,
      summary: 'Download a file of a checkpoint',
      description: 'Supports Range, If-Range and If-None-Match. The ETag is the sha256 of the file.',
      otherAnswers: { 'application/octet-stream': bytes, 'application/json': Type.Unknown() },
      otherStatuses: { 206: bytes, 304: Type.Unknown() },
      errorStatuses: [416],
    },
    async ({ ctx, caller, params }) => {
      const checkpoint = await find(caller.entity, params)
      const files = await listCheckpointFiles(deps.artifacts, checkpoint)
      // Only names in the list are looked up in the store.
      const file = files.find((known) => known.path === params.path)
      if (!file) throw notFound('File')
      const type = file.path.endsWith('.json') ? 'application/json' : 'application/octet-stream'
      await sendFile(ctx, {
        ...file,
        type,
        name: file.path,
        open: (range) => openArtifact(deps.artifacts, file.key, range),
      })
    },
  )

  api.get(
    `${path}/token-statistics`,
    {
      tag,
      summary: 'Download the statistics of the tokens that a checkpoint was trained on',
      description:
        'A Parquet file with one row per token, available shortly after the job has ended. The limit ' +
        '`token_statistics` decides which trajectories are in it. It is kept for the newest ten steps; 404 when ' +
        'it does not exist. Supports Range, If-Range and If-None-Match. The ETag is the sha256 of the file.',
      otherAnswers: { [parquet]: bytes },
      otherStatuses: { 206: bytes, 304: Type.Unknown() },
      errorStatuses: [416],
    },
    async ({ ctx, caller, params }) => {
      const { id, step, statistics } = await find(caller.entity, params)
      if (!statistics) throw notFound('File')
      const name = `token-statistics-step${step}.parquet`
      const open = (range?: ByteRange) => openArtifact(deps.artifacts, keyOf('statistics', { checkpoint: id }), range)
      await sendFile(ctx, { ...statistics, type: parquet, name, open })
    },
  )

  api.get(
    `${path}/archive`,
    {
      tag,
      summary: 'Download a checkpoint as a tar',
      otherAnswers: { 'application/x-tar': bytes },
    },
    async ({ ctx, caller, params }) => {
      const [model, checkpoint] = await Promise.all([
        getModel(deps.pool, caller.entity, params.model_id),
        find(caller.entity, params),
      ])
      const files = await listCheckpointFiles(deps.artifacts, checkpoint)
      const folder = `${model.name}-step${checkpoint.step}`
      ctx.type = 'application/x-tar'
      ctx.set('Content-Disposition', `attachment; filename="${folder}.tar"`)
      const { stream, size } = archiveCheckpoint(deps.artifacts, folder, files, checkpoint.createdAt)
      if (ctx.method === 'HEAD') stream.destroy()
      else ctx.body = stream
      ctx.status = 200
      ctx.length = size
    },
  )
}
