import { countEdits } from '../../../lib/edit-distance.ts'

const maxNamed = 3
// Two typing errors in a short name, or another number at the end of a long one.
const maxDifference = 0.4
// The beginnings are enough. The time of a comparison grows with the square of this length.
const maxLength = 40

/**
 * Returns the names whose last part is most similar to that of a requested name, most similar first. Empty if none is
 * similar.
 */
export function findSimilarNames(requested: string, names: readonly string[]): string[] {
  const wanted = lastPart(requested)
  return names
    .map((name) => ({ name, difference: measureDifference(wanted, lastPart(name)) }))
    .filter(({ difference }) => difference <= maxDifference)
    .sort((a, b) => a.difference - b.difference)
    .slice(0, maxNamed)
    .map(({ name }) => name)
}

/** The last part of `wandb-artifact:///team/project/agent:step3` is `agent`. */
function lastPart(name: string): string {
  const path = name.replace(/^wandb-artifact:\/*/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last.split(':', 1)[0]!.slice(0, maxLength).toLowerCase()
}

/** Returns 0 for equal texts, and up to 1 for texts that have nothing in common. */
function measureDifference(a: string, b: string): number {
  const longest = Math.max(a.length, b.length, 1)
  if (Math.abs(a.length - b.length) / longest > maxDifference) return 1
  return countEdits(a, b) / longest
}
