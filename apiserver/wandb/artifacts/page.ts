import { findInteger, findText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'

export const maxPage = 1_000

/** Reads `first` and `after`. */
export function readPage(args: Arguments, defaultLimit = 50, max = maxPage): { limit: number; after: string } {
  const limit = findInteger(args, 'first') ?? defaultLimit
  return { limit: Math.min(Math.max(limit, 1), max), after: findText(args, 'after') ?? '' }
}

export function presentPageInfo(hasNextPage: boolean, endCursor: string): GraphqlObject {
  return { __typename: 'PageInfo', hasNextPage, endCursor: endCursor === '' ? null : endCursor }
}
