import { Type } from 'typebox'
import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { findRun } from '../../../db/runs/find.ts'
import type { BlobUploadDeps } from '../../training/artifacts/store-files.ts'
import { requireOwnEntity } from '../run-names.ts'
import type { WandbApi } from '../wandb-api.ts'
import { isFilePath } from './paths.ts'
import { receiveRunFile } from './receive.ts'
import { sendRunFile } from './send.ts'

const tag = 'Runs'
const path = '/files/{entity}/{project}/{run}/run_files/{path*}'
const bytes = Type.String({ format: 'binary' })

/** Uploads and downloads of run files, with links. */
export function routeRunFiles(api: WandbApi, deps: BlobUploadDeps): void {
  api.put(
    path,
    {
      tag,
      summary: 'Upload a file of a run, with a link',
      cost: { permit: 'uploads' },
      streamedBody: { 'application/octet-stream': bytes },
      answer: Type.Object({}),
      errorStatuses: [400],
    },
    async ({ ctx, caller, params }) => {
      if (!isFilePath(params.path)) throw unprocessable(valueError(['path', 'path'], 'must be a relative path'))
      const run = { entity: requireOwnEntity(caller, params.entity), project: params.project, name: params.run }
      await receiveRunFile(deps, ctx, { run, path: params.path })
      return {}
    },
  )

  api.get(
    path,
    {
      tag,
      summary: 'Download a file of a run, or a range of it, with a link',
      otherAnswers: { 'application/octet-stream': bytes },
      otherStatuses: { 206: bytes, 304: Type.Unknown() },
      errorStatuses: [416],
    },
    async ({ ctx, caller, params }) => {
      const entity = requireOwnEntity(caller, params.entity)
      const run = await findRun(deps.pool, { entity, project: params.project, name: params.run })
      if (!run) throw notFound('Run', params.run)
      await sendRunFile(deps, ctx, { entity, run: run.number, path: params.path })
    },
  )
}
