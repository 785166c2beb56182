// A group has no id of its own, so its values in all dimensions are its cursor.

export function encodeGroup(group: string[]): string {
  return Buffer.from(JSON.stringify(group)).toString('base64url')
}

/** The group that a cursor names; undefined if it does not have this many dimensions. */
export function decodeGroup(cursor: string, dimensions: number): string[] | undefined {
  const group = parse(Buffer.from(cursor, 'base64url').toString())
  if (!Array.isArray(group) || group.length !== dimensions || !group.every(isGroupName)) return undefined
  return encodeGroup(group) === cursor ? group : undefined
}

function isGroupName(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
