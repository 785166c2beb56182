import { queryOptions } from '@tanstack/react-query'
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

/** The whole of a list that is short in most cases: at most `most` items, and the last page that was read. */
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
      return { items, isWhole: after === undefined, lastPage: page as Answer<Name> }
    },
  })
}
