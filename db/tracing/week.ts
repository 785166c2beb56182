const weekMs = 7 * 24 * 3600 * 1000
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
// The maximum of a Postgres smallint.
const lastWeek = 32_767

/** The partition of ids without a time. */
export const otherIds = -1

/** The partition of a call, computed from its id: the week (since 1970) of the time in a UUIDv7. */
export function weekOf(id: string): number {
  if (!uuid7.test(id)) return otherIds
  const week = Math.floor(parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / weekMs)
  return week <= lastWeek ? week : otherIds
}

export function weeksOf(ids: readonly string[]): number[] {
  return [...new Set(ids.map(weekOf))]
}
