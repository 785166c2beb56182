import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'
import { sessionQuery } from './session.ts'

/** The answers that all screens share. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Without a session, the login follows.
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(sessionQuery.queryKey, null)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // An error of the client stays one.
      retry: (count, error) => count < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
})

/** Reads again what screens show of a resource: all answers with this part in their address. */
export function refetchOf(queries: QueryClient, part: '/models' | '/training-jobs' | '/limits'): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).includes(part) })
}
