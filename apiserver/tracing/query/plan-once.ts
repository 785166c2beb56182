// Clients write shorter conditions, also with lists of a thousand ids.
const smallSqlLength = 8 * 1024
const smallParamsLength = 48 * 1024

/**
 * Puts a large condition into a subquery. Postgres plans a plain condition once for each week of calls, and each plan
 * takes memory. It plans a subquery once, but cannot use an index for it. So this is better for large conditions only.
 *
 * @param paramBytes of the statement so far
 */
export function planOnce(condition: string, paramBytes = 0): string {
  return condition.length > smallSqlLength || paramBytes > smallParamsLength ? `(SELECT ${condition})` : condition
}
