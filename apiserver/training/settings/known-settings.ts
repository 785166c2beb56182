/** The part of a schema that names settings, and their members. */
export interface SettingNames {
  properties: Record<string, object>
}

/** The given settings that the schema names, with their known members. */
export function pickKnown(given: Record<string, unknown>, schema: SettingNames): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (!Object.hasOwn(schema.properties, name)) return []
      const group = findGroup(value, schema, name)
      return [[name, group ? pickKnown(value as Record<string, unknown>, group) : value]]
    }),
  )
}

/** The names of the given settings that the schema does not name; that of a member is `metric_logging.NAME`. */
export function listUnknown(given: Record<string, unknown>, schema: SettingNames): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (!Object.hasOwn(schema.properties, name)) return [name]
    const group = findGroup(value, schema, name)
    if (!group) return []
    return listUnknown(value as Record<string, unknown>, group).map((member) => `${name}.${member}`)
  })
}

function findGroup(value: unknown, { properties }: SettingNames, name: string): SettingNames | undefined {
  const schema = properties[name]
  return typeof value === 'object' && schema !== undefined && 'properties' in schema
    ? (schema as SettingNames)
    : undefined
}
