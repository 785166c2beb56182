import { HttpError } from '../../../lib/http/http-error.ts'
import { listHistoryKeys } from '../../../db/runs/key-sets.ts'
import { measureSteps, readSteps, readTail } from '../../../db/runs/read-lines.ts'
import type { RunStream } from '../../../db/runs/write-lines.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { errors } from '../../errors/table.ts'
import { findInteger, invalidArgument, readTexts } from '../graphql/arguments.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import { JsonScalar, type Arguments, type GraphqlObject } from '../graphql/values.ts'
import { readJsonObject } from '../json-text.ts'
import { maxAnswerBytes, reserveAnswer, sampleValues, sampleWhole } from './sampled-history.ts'

export interface HistoryDeps {
  memory: RequestMemory
  pool: Pool
}

const defaultSamples = 500
const maxSamples = 10_000
const maxSampledKeys = 200
const maxSpecs = 20

/** The history of a run, and its metrics of the machine. */
export function historyFields(deps: HistoryDeps, context: GraphqlContext, run: RunRow): GraphqlObject {
  const { pool } = deps
  const reserve = (bytes: number) => reserveAnswer(deps, context.ctx, bytes)
  const sample = (stream: RunStream, args: Arguments) =>
    sampleWhole(deps, context.ctx, { run: run.number, stream, samples: readSamples(args) })
  return {
    historyLineCount: run.historyLines,
    eventsLineCount: run.eventLines,
    historyTail: () => listTail(pool, run, 'history'),
    eventsTail: () => listTail(pool, run, 'events'),
    history: async (args) => ('minStep' in args ? readPage(pool, run, args, reserve) : sample('history', args)),
    events: (args) => sample('events', args),
    sampledHistory: ({ specs }) => sampleSpecs(pool, run, specs),
    historyKeys: async () => new JsonScalar(await describeKeys(pool, run)),
    // All lines are in the database. SDKs then read them by pages.
    parquetHistory: () => ({ parquetUrls: [], liveData: new JsonScalar([]) }),
  }
}

/** The text of a list of the last lines. SDKs continue after the step of the last one. */
async function listTail(pool: Pool, run: RunRow, stream: RunStream): Promise<string> {
  const lines = await readTail(pool, run.number, stream, 1)
  return JSON.stringify(lines.map(({ text }) => text))
}

/** All lines in a range of steps. @throws {HttpError} 400 if they are too large for one answer */
async function readPage(pool: Pool, run: RunRow, args: Arguments, reserve: (bytes: number) => void): Promise<string[]> {
  const page = {
    run: run.number,
    minStep: findInteger(args, 'minStep') ?? 0,
    maxStep: findInteger(args, 'maxStep') ?? Number.MAX_SAFE_INTEGER,
    limit: maxPageLines,
  }
  const bytes = await measureSteps(pool, page)
  if (bytes > maxAnswerBytes) {
    throw new HttpError(
      errors.bad_request,
      `The history from step ${page.minStep} to ${page.maxStep} has ${bytes} bytes. At most ${maxAnswerBytes} are ` +
        'read at once: choose a smaller page_size, or keys.',
    )
  }
  reserve(bytes)
  return readSteps(pool, page)
}

// A page of the SDKs has as many steps as the client chooses, and perhaps several lines for each step.
const maxPageLines = 100_000

/** One list for each spec: objects with the values of its keys. */
async function sampleSpecs(pool: Pool, run: RunRow, specs: unknown): Promise<JsonScalar> {
  const texts = readTexts({ specs }, 'specs', maxSpecs)
  const samples = []
  for (const text of texts) samples.push(await sampleSpec(pool, run, text))
  return new JsonScalar(samples)
}

async function sampleSpec(pool: Pool, run: RunRow, text: string): Promise<Record<string, unknown>[]> {
  const spec = readJsonObject(text)
  if (!spec) throw invalidArgument('specs', 'must be texts of JSON objects')
  const keys = [...new Set(readTexts(spec, 'keys', maxSampledKeys))]
  if (keys.length === 0) throw invalidArgument('specs', 'must name keys')
  return sampleValues(pool, {
    run: run.number,
    keys,
    samples: readSamples(spec),
    minStep: findInteger(spec, 'minStep') ?? Number.MIN_SAFE_INTEGER,
    maxStep: findInteger(spec, 'maxStep') ?? Number.MAX_SAFE_INTEGER,
  })
}

function readSamples(args: Arguments): number {
  return Math.min(Math.max(findInteger(args, 'samples') ?? defaultSamples, 1), maxSamples)
}

/** The keys of a history with the number of their values by type, as SDKs expect them. */
async function describeKeys(pool: Pool, run: RunRow) {
  const keys: Record<string, { typeCounts: { type: string; count: number }[] }> = {}
  for (const { key, type, lines } of await listHistoryKeys(pool, run.number)) {
    const known = Object.hasOwn(keys, key) ? keys[key]!.typeCounts : []
    Object.defineProperty(keys, key, {
      value: { typeCounts: [...known, { type, count: lines }] },
      enumerable: true,
      configurable: true,
    })
  }
  return { keys, lastStep: run.lastStep, sets: [] }
}
