import { Type } from 'typebox'
import { requireOwnEntity } from '../run-names.ts'
import type { WandbApi } from '../wandb-api.ts'
import { fileStreamLimitBytes, receiveFileStream, type FileStreamDeps } from './service.ts'

const chunk = Type.Object({ offset: Type.Integer({ minimum: 0 }), content: Type.Array(Type.String()) })
const fileStreamSchema = Type.Object({
  files: Type.Optional(Type.Record(Type.String(), chunk)),
  uploaded: Type.Optional(Type.Array(Type.String())),
  complete: Type.Optional(Type.Boolean()),
  exitcode: Type.Optional(Type.Integer()),
  preempting: Type.Optional(Type.Boolean()),
})
const answer = Type.Object({
  exitcode: Type.Union([Type.Integer(), Type.Null()]),
  limits: Type.Object({}),
  stopped: Type.Optional(Type.Boolean()),
})

/** The stream of a run's lines. A lost answer is repeated, with the same offsets. */
export function routeFileStream(api: WandbApi, deps: FileStreamDeps): void {
  api.post(
    '/files/{entity}/{project}/{run}/file_stream',
    {
      tag: 'Runs',
      summary: "Write lines of a run's history, events and output, and its summary",
      description:
        'The wandb SDKs send this while a run is running. `offset` is the number of the first line of `content`. The ' +
        'same lines again change nothing. A request without lines says that the run is still running; `complete` ends it.',
      streamedBody: { 'application/json': fileStreamSchema },
      bodyLimitBytes: fileStreamLimitBytes,
      answer,
      role: 'member',
      errorStatuses: [413, 415, 422, 429],
    },
    async ({ ctx, caller, params }) => {
      const { entity, project, run } = params
      return receiveFileStream(deps, ctx, { entity: requireOwnEntity(caller, entity), project, name: run })
    },
  )
}
