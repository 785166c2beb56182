import { countEdits } from '../../../lib/edit-distance.ts'

const maxNamed = 3
// Two typing errors in a short name, or another number at the end of a long one.
const maxDifference = 0.4
// The beginnings say enough, and comparing takes the square of this.
const maxLength = 40

/** The names whose last part is the most like that of a requested name, the nearest first; none when all are quite different. */
export function findSimilarNames(requested: string, names: readonly string[]): string[] {
  const wanted = lastPart(requested)
  return names
    .map((name) => ({ name, difference: measureDifference(wanted, lastPart(name)) }))
    .filter(({ difference }) => difference <= maxDifference)
    .sort((a, b) => a.difference - b.difference)
    .slice(0, maxNamed)
    .map(({ name }) => name)
}

/** Of `wandb-artifact:///team/project/agent:step3` it is `agent`. */
function lastPart(name: string): string {
  const path = name.replace(/^wandb-artifact:\/*/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last.split(':', 1)[0]!.slice(0, maxLength).toLowerCase()
}

/** From 0 for equal texts to 1 for texts that have nothing in common. */
function measureDifference(a: string, b: string): number {
  const longest = Math.max(a.length, b.length, 1)
  if (Math.abs(a.length - b.length) / longest > maxDifference) return 1
  return countEdits(a, b) / longest
}
