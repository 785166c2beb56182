import { queryOptions } from '@tanstack/react-query'
import { maxTotal } from '../logic/numbers.ts'
import { callApi, type Answer, type OperationName, type Parts } from './client.ts'

// The name of an operation and its parts are the key of its answer in the cache, so that a change finds all of them.

/** The query of an operation. */
export function apiQuery<Name extends OperationName>(name: Name, parts: Parts<Name> = {}) {
  return queryOptions({ queryKey: [name, parts], queryFn: ({ signal }) => callApi(name, { ...parts, signal }) })
}

interface Page {
  data: { id: string }[]
  has_more: boolean
  last_id: string
}

/** The operations that answer with pages. */
type ListName = { [Name in OperationName]: Answer<Name> extends Page ? Name : never }[OperationName]

export type Item<Name extends ListName> = Answer<Name>['data'][number]

/** The operations that count what their filter finds. */
const counted: ReadonlySet<OperationName> = new Set<CountedName>([
  'GET /v1/preview/models',
  'GET /v1/preview/training-jobs',
  'GET /v1/preview/models/{model_id}/trajectories',
  'GET /v1/preview/models/{model_id}/checkpoints',
  'GET /v1/preview/keys',
  'GET /v1/preview/projects',
  'GET /v1/preview/webhooks/{webhook_id}/deliveries',
])
type CountedName = { [Name in ListName]: Answer<Name> extends { total?: number } ? Name : never }[ListName]

/**
 * The whole of a list that is short in most cases: at most `most` items, the last page that was read, and of a longer list
 * how many items there are.
 */
export function wholeListQuery<Name extends ListName>(name: Name, parts: Parts<Name> = {}, most = 2_000) {
  return queryOptions({
    queryKey: [name, parts, 'whole', most],
    queryFn: async ({ signal }) => {
      const items: Item<Name>[] = []
      let after: string | undefined
      let page: Page
      do {
        const query = { limit: 100, ...parts.query, ...(after !== undefined && { after }) }
        page = await callApi(name, { ...parts, query, signal })
        items.push(...(page.data as Item<Name>[]))
        after = page.has_more ? page.last_id : undefined
      } while (after !== undefined && items.length < most)
      const lastPage = page as Answer<Name>
      if (after === undefined) return { items, isWhole: true, total: items.length, lastPage }
      const total = counted.has(name) ? await count(name, parts, signal) : undefined
      return { items, isWhole: false, total, lastPage }
    },
  })
}

async function count<Name extends ListName>(name: Name, parts: Parts<Name>, signal: AbortSignal) {
  const query = { ...parts.query, limit: 1, max_total: maxTotal }
  const page: object = await callApi(name, { ...parts, query, signal })
  return 'total' in page ? Number(page.total) : undefined
}
