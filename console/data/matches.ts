import { infiniteQueryOptions } from '@tanstack/react-query'
import { callApi, locate, type Answer, type Parts } from './client.ts'

const operation = 'GET /v1/preview/models/{model_id}/trajectory-matches'

export type Match = Answer<typeof operation>['data'][number]
export type MatchFilter = Omit<Parts<typeof operation>['query'] & object, 'text' | 'after' | 'limit' | 'order'>

/** The request for the first page of what says a text. */
export function matchesRequest(modelId: string, text: string, filter: MatchFilter) {
  return locate(operation, { path: { model_id: modelId }, query: { ...filter, text } })
}

/** The trajectories of a model that say a text, page by page. */
export function matchesQuery(modelId: string, text: string, filter: MatchFilter) {
  return infiniteQueryOptions({
    queryKey: ['matches', modelId, text, filter],
    // Conversations do not change. New ones are found by a new search.
    staleTime: 60_000,
    initialPageParam: '',
    queryFn: ({ signal, pageParam: after }) =>
      callApi(operation, {
        path: { model_id: modelId },
        query: { ...filter, text, limit: 500, ...(after !== '' && { after }) },
        signal,
      }),
    getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : undefined),
  })
}
