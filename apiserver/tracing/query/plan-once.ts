// Programs write less, and lists of a thousand ids.
const smallSqlLength = 8 * 1024
const smallParamsLength = 48 * 1024

/**
 * A condition on calls as it is put into a statement. Postgres plans it anew for each week of calls, and takes memory for
 * each; one in a subquery it plans once, but finds no index for it. That is a bargain for large ones only.
 *
 * @param paramBytes of the statement so far
 */
export function planOnce(condition: string, paramBytes = 0): string {
  return condition.length > smallSqlLength || paramBytes > smallParamsLength ? `(SELECT ${condition})` : condition
}
