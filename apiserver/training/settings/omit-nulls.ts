/** The settings that were given, with their given members. An explicit null counts as absent, so that the default applies. */
export function omitNulls(config: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config ?? {}).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, isGroup(value) ? omitNulls(value) : value]],
    ),
  )
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && !Array.isArray(value)
}
