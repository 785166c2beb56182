import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi, type Answer } from './client.ts'
import type { Item } from './queries.ts'

export type Model = Item<'GET /v1/preview/models'>
export type Trajectory = Item<'GET /v1/preview/models/{model_id}/trajectories'>
export type Job = Item<'GET /v1/preview/training-jobs'>
/** A job with why it waits. */
export type JobDetail = Answer<'GET /v1/preview/training-jobs/{training_job_id}'>

/** The model of a run, by its name. @throws {ApiError} 404 */
export function runQuery(project: string, run: string) {
  return queryOptions({
    queryKey: ['GET /v1/preview/models', { query: { project, name: run } }, 'run'],
    queryFn: async ({ signal }): Promise<Model> => {
      const { data } = await callApi('GET /v1/preview/models', { query: { project, name: run }, signal })
      if (!data[0]) throw new ApiError(404, `The project ${project} has no run ${run}.`)
      return data[0]
    },
  })
}
