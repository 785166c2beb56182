import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import { median, round } from './statistics.ts'

/** Numbers by name, with the unit in the name. */
export type Figures = Record<string, number>

/** What is promised of a figure. */
export interface Goal {
  is: 'at most' | 'at least'
  limit: number
}

export const atMost = (limit: number): Goal => ({ is: 'at most', limit })
export const atLeast = (limit: number): Goal => ({ is: 'at least', limit })

/** A benchmark: its workload, and what is promised. */
export interface Bench<Count extends string = string> {
  /** A stack without an engine and a trainer, or with both. */
  stack?: 'control' | 'whole'
  /** Sizes with their usual values. The command line changes them: `--rounds 1`. */
  counts: Record<Count, number>
  /** Parts or participants, of which `--only A,B` takes some. */
  parts?: readonly string[]
  goals: Readonly<Record<string, Goal>>
  measure: (given: Given<Count>) => Promise<Figures>
}

/** What a benchmark runs with. */
export interface Given<Count extends string = string> {
  /** Undefined if the benchmark asks for none. */
  stack: StackHandle
  counts: Record<Count, number>
  parts: readonly string[]
}

const results = path.join(import.meta.dirname, '..', '..', '.trainyard', 'bench')

/** Returns the command of a benchmark: it prints each figure, beside its goal if it has one, and writes them as JSON. */
export function defineBench<Count extends string>(bench: Bench<Count>) {
  return async (name: string, args: string[]): Promise<void> => {
    const { counts, parts } = readOptions(bench, args)
    const up = bench.stack && (await bringUpStack(bench.stack === 'whole'))
    try {
      const measured = await bench.measure({ stack: up?.handle as StackHandle, counts, parts })
      const figures = mapFigures(measured, round)
      console.log(describeFigures(figures, bench.goals))
      const file = path.join(results, `${name}.json`)
      await mkdir(results, { recursive: true })
      const date = new Date().toISOString()
      await writeFile(file, `${JSON.stringify({ bench: name, date, counts, parts, figures }, undefined, 2)}\n`)
      console.log(`written to ${path.relative(process.cwd(), file)}`)
    } finally {
      await up?.tearDown()
    }
  }
}

/** @throws {Error} for an unknown option, and for an invalid value */
function readOptions<Count extends string>({ counts, parts = [] }: Bench<Count>, args: string[]) {
  const options: ParseArgsOptionsConfig = { only: { type: 'string' } }
  for (const name of Object.keys(counts)) options[name] = { type: 'string' }
  const { values } = parseArgs({ args, options })
  const read = ([name, defaults]: [string, unknown]) => {
    const count = Number(values[name] ?? defaults)
    if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} must be a whole number from 1 on`)
    return [name, count]
  }
  const only = values['only'] === undefined ? parts : String(values['only']).split(',')
  const unknown = only.filter((part) => !parts.includes(part))
  if (unknown.length > 0) throw new Error(`--only ${unknown.join()}: it must be some of ${parts.join()}`)
  return { counts: Object.fromEntries(Object.entries(counts).map(read)) as Record<Count, number>, parts: only }
}

function describeFigures(figures: Figures, goals: Readonly<Record<string, Goal>>): string {
  const width = Math.max(0, ...Object.keys(figures).map(({ length }) => length))
  return Object.entries(figures)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}${describeGoal(value, goals[name])}`)
    .join('\n')
}

function describeGoal(value: number, goal: Goal | undefined): string {
  if (!goal) return ''
  const isMet = goal.is === 'at most' ? value <= goal.limit : value >= goal.limit
  return ` (goal: ${goal.is} ${goal.limit}${isMet ? '' : ': missed'})`
}

export function mapFigures(figures: Figures, change: (value: number) => number): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, change(value)]))
}

/** Tells on standard error what has been measured so far. */
export function note(what: string, figures: Figures): void {
  const values = Object.entries(mapFigures(figures, round)).map(([name, value]) => `${name} ${value}`)
  process.stderr.write(`${what}: ${values.join(', ')}\n`)
}

/**
 * Lets each contestant work once a round, one after the other, so that other load of the machine affects all of them. Round 0 warms up.
 * Returns what each has measured in the other rounds.
 */
export async function takeTurns<Name extends string>(
  rounds: number,
  contestants: Record<Name, (round: number) => Promise<Figures>>,
): Promise<Record<Name, Figures[]>> {
  const names = Object.keys(contestants) as Name[]
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Figures[]>
  for (let number = 0; number <= rounds; number++) {
    for (const name of names) {
      const found = await contestants[name](number)
      note(`${number === 0 ? 'warm-up' : `round ${number} of ${rounds}`}, ${name}`, found)
      if (number > 0) measured[name].push(found)
    }
  }
  return measured
}

/** The medians of all figures that the rounds have, their names behind a prefix. */
export function medians(rounds: readonly Figures[], prefix = ''): Figures {
  const names = Object.keys(rounds[0] ?? {})
  return Object.fromEntries(names.map((name) => [prefix + name, median(rounds.map((found) => found[name]!))]))
}

/** How many times more a figure is on one side than on the other: the median of the rounds. */
export function ratioOf(one: readonly Figures[], other: readonly Figures[], name: string): number {
  return median(one.map((found, index) => found[name]! / other[index]![name]!))
}
