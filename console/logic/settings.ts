/** A setting of a job: what it is, and whether its request gave it. */
export interface Setting {
  name: string
  description: string
  value: string
  isGiven: boolean
}

/** The settings of a job: those of its request first, then the others with their defaults. */
export function listSettings(
  known: readonly { name: string; description: string; defaultValue: string }[],
  given: Readonly<Record<string, unknown>>,
): Setting[] {
  const isSet = (name: string) => given[name] !== undefined && given[name] !== null
  const all = known.map(({ name, description, defaultValue }) => ({
    name,
    description,
    value: isSet(name) ? writeValue(given[name]) : defaultValue,
    isGiven: isSet(name),
  }))
  const unknown = Object.keys(given)
    .filter((name) => isSet(name) && !known.some((setting) => setting.name === name))
    .map((name) => ({ name, description: '', value: writeValue(given[name]), isGiven: true }))
  return [...all, ...unknown].toSorted((a, b) => Number(b.isGiven) - Number(a.isGiven))
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
