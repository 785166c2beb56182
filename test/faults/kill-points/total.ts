import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { points } from './points.ts'

/** What several runs have done together: a file with a line for each round. */
export interface Total {
  seed: number
  rounds: number
  kills: number
  /** How often each point was reached. */
  reached: Map<string, number>
}

interface Line {
  seed: number
  /** Of trainers and engines, which other suites kill, there is none. */
  round?: number
  reached: string[]
}

export function readTotal(file: string, newSeed: number): Total {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
  const names = lines.flatMap((line) => line.reached)
  const counts = Map.groupBy(names, (name) => name)
  // A point may have had another name, or be gone, since the first lines.
  const reached = new Map(points.flatMap(({ name }) => (counts.has(name) ? [[name, counts.get(name)!.length]] : [])))
  return {
    seed: lines[0]?.seed ?? newSeed,
    rounds: lines.filter(({ round }) => round !== undefined).length,
    kills: names.length,
    reached,
  }
}

export function addRound(file: string, line: Line): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** What was reached of each part. */
export function describeTotal({ kills, reached }: Total): string {
  const lines = [...Map.groupBy(points, ({ part }) => part)].map(([part, own]) => {
    const count = own.reduce((sum, { name }) => sum + (reached.get(name) ?? 0), 0)
    const never = own.filter(({ name }) => !reached.has(name)).map(({ name }) => name)
    const left = never.length > 0 ? `; never: ${never.join('; ')}` : ''
    return `${part}: ${count} kills at ${own.length - never.length} of ${own.length} points${left}`
  })
  return [`${kills} kills at ${reached.size} of ${points.length} points`, ...lines].join('\n')
}
