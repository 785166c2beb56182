// A warning has at most 500 characters, and its sentence needs some of them.
const maxLength = 250
const maxNameLength = 64

/** Writes names one after the other: as many as fit into a warning, and how many more there are. */
export function enumerateNames(names: readonly string[]): string {
  const shown: string[] = []
  for (const name of names.map(shorten)) {
    if ([...shown, name].join(', ').length > maxLength) break
    shown.push(name)
  }
  const rest = names.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}

function shorten(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}...` : name
}
