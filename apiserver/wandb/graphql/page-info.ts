/** Where a list continues. */
export function presentPageInfo(hasNextPage: boolean, end: string | number | undefined) {
  return { __typename: 'PageInfo', hasNextPage, endCursor: end === undefined ? null : String(end) }
}
