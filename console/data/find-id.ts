import { queryOptions } from '@tanstack/react-query'
import { nameCall } from '../logic/calls.ts'
import type { Destination } from '../logic/palette.ts'
import { ApiError, callApi } from './client.ts'

// Trajectories belong to a run: so many of the newest are asked.
const maxRuns = 20

/** What an id names: a job, a run, or a trajectory or a call of the project. */
export function idQuery(id: string, { entity, project }: { entity: string; project?: string }) {
  return queryOptions({
    queryKey: ['id', id, project],
    queryFn: async (): Promise<Destination[]> => {
      const [job, model] = await Promise.all([
        orNothing(callApi('GET /v1/preview/training-jobs/{training_job_id}', { path: { training_job_id: id } })),
        orNothing(callApi('GET /v1/preview/models/{model_id}', { path: { model_id: id } })),
      ])
      if (model) return [destination('run', model.name, `/${entity}/${model.project}/runs/${model.name}`)]
      if (job) {
        const of = await callApi('GET /v1/preview/models/{model_id}', { path: { model_id: job.model_id } })
        return [destination('job', `of ${of.name}, ${job.state}`, `/${entity}/${of.project}/jobs/${id}`)]
      }
      if (project === undefined) return []
      const found = [findCall(id, { entity, project }), findTrajectory(id, { entity, project })]
      return (await Promise.all(found)).flat()
    },
  })
}

async function findCall(id: string, { entity, project }: { entity: string; project: string }): Promise<Destination[]> {
  const columns = ['id', 'op_name', 'display_name', 'started_at']
  const body = { project_id: `${entity}/${project}`, filter: { call_ids: [id] }, columns, limit: 1 }
  const { calls } = await callApi('POST /traces/calls/query', { body })
  return calls.map((call) => destination('call', nameCall(call), `/${entity}/${project}/weave/calls/${id}`))
}

async function findTrajectory(
  id: string,
  { entity, project }: { entity: string; project: string },
): Promise<Destination[]> {
  const query = { project, order: 'desc', limit: maxRuns } as const
  const { data: models } = await callApi('GET /v1/preview/models', { query })
  const ask = async (model: { id: string; name: string }) => {
    const path = { model_id: model.id, trajectory_id: id }
    const found = await orNothing(callApi('GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}', { path }))
    return (
      found &&
      destination('trajectory', `of ${model.name}`, `/${entity}/${project}/runs/${model.name}/trajectories/${id}`)
    )
  }
  return (await Promise.all(models.map(ask))).filter((found) => found !== undefined)
}

const destination = (kind: Destination['kind'], name: string, to: string): Destination => ({ kind, name, to })

/** @throws what is no answer */
async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && [404, 422].includes(error.status)) return undefined
    throw error
  }
}
