import { queryOptions } from '@tanstack/react-query'
import { ApiError, sendTo } from './client.ts'

export interface Session {
  entity: string
  key_id: string
  role: 'read' | 'member' | 'admin'
  expires_at: string | null
}

const address = '/v1/preview/session'

/** Who is logged in. Undefined if nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return (await (await sendTo('GET', address, undefined, signal)).json()) as Session
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

/** Logs in with a key, or with the code of a printed link. @throws {ApiError} */
export async function logIn(proof: { api_key: string } | { code: string }): Promise<Session> {
  return (await (await sendTo('POST', address, proof)).json()) as Session
}

export async function logOut(): Promise<void> {
  await sendTo('DELETE', address)
}
