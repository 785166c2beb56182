import { queryOptions } from '@tanstack/react-query'
import { callApi, type Answer } from './client.ts'

const operation = 'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}/tokens'
const pageRows = 10_000
// The page colours each of them.
const maxRows = 50_000

/** What the loss did to the tokens of a trajectory: the first 50,000 of them. */
export function tokensQuery(modelId: string, trajectoryId: string) {
  const path = { model_id: modelId, trajectory_id: trajectoryId }
  return queryOptions({
    // They never change once they are there.
    queryKey: ['tokens', path],
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Answer<typeof operation>> => {
      const answer = await callApi(operation, { path, query: { limit: pageRows }, signal })
      for (let from = pageRows; from < Math.min(answer.total, maxRows); from += pageRows) {
        const { columns } = await callApi(operation, { path, query: { from, limit: pageRows }, signal })
        for (const [name, values] of Object.entries(columns))
          answer.columns[name as 'ratio'].push(...(values as never[]))
      }
      return answer
    },
  })
}
