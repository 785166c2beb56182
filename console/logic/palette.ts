/** Something that a person can go to. */
export interface Destination {
  kind: 'page' | 'project' | 'run' | 'job' | 'trajectory' | 'call'
  name: string
  /** Its address in the console. */
  to: string
}

const most = 12
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** The id in a pasted text: an id, or an address that ends with one. */
export function readId(text: string): string | undefined {
  return text.match(new RegExp(uuid, 'gi'))?.at(-1)?.toLowerCase()
}

/** The destinations whose name or kind has all words of a text; those whose name begins with it first. */
export function rankDestinations(destinations: readonly Destination[], text: string): Destination[] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter((word) => word !== '')
  const fits = ({ kind, name }: Destination) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word))
  const rank = ({ name }: Destination) => (name.toLowerCase().startsWith(wanted) ? 0 : 1)
  return destinations
    .filter(fits)
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, most)
}
