import { queryOptions } from '@tanstack/react-query'
import { readHistory } from '../logic/history.ts'
import { ApiError, callApi } from './client.ts'
import { wholeListQuery, type Item } from './queries.ts'

const operation = 'GET /v1/preview/runs'

/** A run that a program has logged by the wandb SDK. */
export type LoggedRun = Item<typeof operation>

/** The newest logged runs of a project. Those with a model are among the runs of the training, too. */
export function loggedRunsQuery(project: string) {
  return wholeListQuery(operation, { query: { project, order: 'desc' } }, 500)
}

/** A logged run by its name. @throws {ApiError} 404 */
export function loggedRunQuery(project: string, name: string) {
  return queryOptions({
    queryKey: [operation, { query: { project, name } }, 'run'],
    queryFn: async ({ signal }): Promise<LoggedRun> => {
      const { data } = await callApi(operation, { query: { project, name }, signal })
      if (!data[0]) throw new ApiError(404, `The project ${project} has no run ${name}.`)
      return data[0]
    },
  })
}

const samples = 1_000

/** The values of a metric over the steps of a logged run: all, or some at equal distances. */
export function historyQuery(id: string, key: string) {
  const name = 'GET /v1/preview/runs/{run_id}/history'
  return queryOptions({
    queryKey: [name, id, key],
    queryFn: async ({ signal }) => {
      const query = { keys: key, samples }
      return readHistory((await callApi(name, { path: { run_id: id }, query, signal })).rows, key)
    },
  })
}
