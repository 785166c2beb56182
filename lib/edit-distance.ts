/**
 * The Levenshtein distance: how many characters must be added, removed or replaced. It takes time in proportion to the
 * product of the lengths.
 */
export function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1]
    for (let at = 1; at <= to.length; at++) {
      next.push(Math.min(next[at - 1]! + 1, row[at]! + 1, row[at - 1]! + (to[at - 1] === from[index] ? 0 : 1)))
    }
    row = next
  }
  return row[to.length]!
}
