import { findModel } from '../../../db/models/models.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import { requireModelId } from '../../accounts/model-references.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { CallDeps } from '../calls/service.ts'
import { requireProjectName } from '../project-path.ts'
import type { Project } from '../projects.ts'
import { countRead } from '../read-memory.ts'
import { addRows, type AddRowsDeps, type DataSetVersion } from './add-rows.ts'
import { readCallRows } from './call-rows.ts'
import { callsToDataSetSchema, dataSetVersionSchema, trajectoriesToDataSetSchema } from './schema.ts'
import { readTrajectoryRows, type TrajectorySourceDeps } from './trajectory-rows.ts'

export interface DataSetDeps extends AddRowsDeps, CallDeps, TrajectorySourceDeps {
  memory: RequestMemory
}

// A thousand ids of any length.
const bodyLimitBytes = 1024 * 1024
// The rows of one request. A client that sends them itself may send twice as much.
const maxRowBytes = 16 * 1024 * 1024

const limits =
  'A version with the rows of the latest one and the new ones is published; a data set that does not exist is ' +
  'created. One request copies at most 1,000 of them, with 16 MiB together.'

/** Copies calls and trajectories into data sets of weave. */
export function routeDataSets(api: RestApi, deps: DataSetDeps): void {
  routeCalls(api, deps)
  routeTrajectories(api, deps)
}

function routeCalls(api: RestApi, deps: DataSetDeps): void {
  api.post(
    '/v1/preview/projects/{project}/calls/to-dataset',
    {
      tag: 'Tracing',
      summary: 'Add calls to a data set',
      description: `Each call becomes a row: its inputs, with \`output\` and with \`call\`, the reference of the call. ${limits}`,
      body: callsToDataSetSchema,
      countsOwnReads: true,
      bodyLimitBytes,
      answer: dataSetVersionSchema,
    },
    async ({ ctx, caller, params, body }) => {
      const project = await deps.projects.open(caller, `${caller.entity}/${requireProjectName(params.project)}`)
      const ids = [...new Set(body.call_ids)]
      const memory = deps.memory.open(ctx)
      const kept = countRead(memory, maxRowBytes)
      const rows = await readCallRows(deps, { caller, reading: countRead(memory) }, { project, ids, rows: kept })
      const made = await addRows(deps, project, { name: body.dataset, rows, state: ctx.state })
      return present(project, made, rows.length)
    },
  )
}

function routeTrajectories(api: RestApi, deps: DataSetDeps): void {
  api.post(
    '/v1/preview/models/{model_id}/to-dataset',
    {
      tag: 'Trajectories',
      summary: 'Add trajectories to a data set',
      description:
        'Each trajectory becomes a row: `messages`, where choices are their messages, `tools` if it has some, `reward`, ' +
        "`metrics`, `scenario_id`, `step`, `model` and `trajectory`, its id. The data set is in the model's project. " +
        'Of a trajectory with several histories, the first one becomes the row. ' +
        limits,
      body: trajectoriesToDataSetSchema,
      countsOwnReads: true,
      bodyLimitBytes,
      answer: dataSetVersionSchema,
    },
    async ({ ctx, caller, params, body }) => {
      const modelId = await requireModelId(deps.training, caller.entity, params.model_id)
      const model = await findModel(deps.training, caller.entity, modelId)
      if (!model) throw notFound('Model', params.model_id)
      const rows = await readTrajectoryRows(deps, {
        model,
        ids: [...new Set(body.trajectory_ids)],
        rows: countRead(deps.memory.open(ctx), maxRowBytes),
      })
      const project = await deps.projects.open(caller, `${model.entity}/${model.project}`)
      const made = await addRows(deps, project, { name: body.dataset, rows, state: ctx.state })
      return present(project, made, rows.length)
    },
  )
}

function present(project: Project, { version, rowCount }: DataSetVersion, added: number) {
  const { objectId, digest, versionIndex } = version
  return {
    project_id: project.id,
    object_id: objectId,
    digest,
    version_index: versionIndex,
    ref: `weave:///${project.id}/object/${objectId}:${digest}`,
    added,
    rows: rowCount,
  }
}
