import { listHistoryKeys } from '../../../db/runs/key-sets.ts'
import { readSteps, readTail } from '../../../db/runs/read-lines.ts'
import type { RunStream } from '../../../db/runs/write-lines.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import type { Pool } from '../../../db/pool.ts'
import { findInteger, invalidArgument, readTexts } from '../graphql/arguments.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import { JsonScalar, type Arguments, type GraphqlObject } from '../graphql/values.ts'
import { readJsonObject } from '../json-text.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import { sampleValues, sampleWhole } from './sampled-history.ts'

export interface HistoryDeps {
  admission: Admission
  pool: Pool
}

const defaultSamples = 500
const maxSamples = 10_000
const maxSampledKeys = 200
const maxSpecs = 20

/** The history of a run, and its metrics of the machine. */
export function historyFields(deps: HistoryDeps, context: GraphqlContext, run: RunRow): GraphqlObject {
  const read: Reading = { deps, run }
  const sample = (stream: RunStream, args: Arguments) =>
    sampleWhole(deps, { run: run.number, stream, samples: readSamples(args, maxSamples) })
  return {
    historyLineCount: run.historyLines,
    eventsLineCount: run.eventLines,
    historyTail: () => listTail(read, 'history'),
    eventsTail: () => listTail(read, 'events'),
    history: async (args) => ('minStep' in args ? readPage(read, args) : sample('history', args)),
    events: (args) => sample('events', args),
    sampledHistory: ({ specs }) => sampleSpecs(read, specs),
    historyKeys: async () => new JsonScalar(await describeKeys(read)),
    // All lines are in the database. SDKs then read them by pages.
    parquetHistory: () => ({ parquetUrls: [], liveData: new JsonScalar([]) }),
  }
}

/** A request that reads a run. */
interface Reading {
  deps: HistoryDeps
  run: RunRow
}

/** The text of a list of the last lines. SDKs continue after the step of the last one. */
async function listTail({ deps, run }: Reading, stream: RunStream): Promise<string> {
  const lines = await readTail(deps.pool, { run: run.number, stream, lines: 1 })
  return JSON.stringify(lines.map(({ text }) => text))
}

/** All lines in a range of steps. @throws {HttpError} 422 if they are too large for one answer */
function readPage({ deps, run }: Reading, args: Arguments): Promise<string[]> {
  const page = {
    run: run.number,
    minStep: findInteger(args, 'minStep') ?? 0,
    maxStep: findInteger(args, 'maxStep') ?? Number.MAX_SAFE_INTEGER,
    limit: maxPageLines,
  }
  return deps.admission.run('run_reads', () => readSteps(deps.pool, page))
}

// A page of the SDKs has as many steps as the client chooses, and perhaps several lines for each step.
const maxPageLines = 100_000

/** One list for each spec: objects with the values of its keys. */
async function sampleSpecs(read: Reading, specs: unknown): Promise<JsonScalar> {
  const texts = readTexts({ specs }, 'specs', maxSpecs)
  const samples = []
  for (const text of texts) samples.push(await sampleSpec(read, text))
  return new JsonScalar(samples)
}

async function sampleSpec({ deps, run }: Reading, text: string): Promise<Record<string, unknown>[]> {
  const spec = readJsonObject(text)
  if (!spec) throw invalidArgument('specs', 'must be texts of JSON objects')
  const keys = [...new Set(readTexts(spec, 'keys', maxSampledKeys))]
  if (keys.length === 0) throw invalidArgument('specs', 'must name keys')
  return sampleValues(deps, { run: run.number, keys, ...readSteppedSamples(spec) })
}

/**
 * How many lines a spec asks for, of which steps. wandb 0.25 sends the step after a page's last one as `maxStep`. Newer
 * SDKs send the last one itself, and as many samples as the page has steps.
 */
function readSteppedSamples(spec: Record<string, unknown>) {
  const minStep = findInteger(spec, 'minStep') ?? Number.MIN_SAFE_INTEGER
  const end = findInteger(spec, 'maxStep') ?? Number.MAX_SAFE_INTEGER
  const isLast = findInteger(spec, 'samples') === end - minStep + 1
  return { samples: readSamples(spec, maxPageLines), minStep, maxStep: isLast ? end + 1 : end }
}

function readSamples(args: Arguments, max: number): number {
  return Math.min(Math.max(findInteger(args, 'samples') ?? defaultSamples, 1), max)
}

/** The keys of a history with the number of their values by type, as SDKs expect them. */
async function describeKeys({ deps, run }: Reading) {
  const keys: Record<string, { typeCounts: { type: string; count: number }[] }> = {}
  const found = await deps.admission.run('run_reads', () => listHistoryKeys(deps.pool, run.number))
  for (const { key, type, lines } of found) {
    const known = Object.hasOwn(keys, key) ? keys[key]!.typeCounts : []
    Object.defineProperty(keys, key, {
      value: { typeCounts: [...known, { type, count: lines }] },
      enumerable: true,
      configurable: true,
    })
  }
  return { keys, lastStep: run.lastStep, sets: [] }
}
