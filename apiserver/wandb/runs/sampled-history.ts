import { valueError, unprocessable } from '../../../lib/http/http-error.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { estimateLineBytes, sampleHistory, sampleLines, type HistorySample } from '../../../db/runs/read-lines.ts'
import type { RunStream } from '../../../db/runs/write-lines.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import { maxAnswerBytes } from '../../accounts/limits/answer-memory.ts'
import type { HistoryQuery } from './schema.ts'

export interface SampleDeps {
  admission: Admission
  pool: Pool
}

const maxKeys = 200

/** Whole lines at equal distances. There are fewer than asked for if they are large. */
export async function sampleWhole(
  deps: SampleDeps,
  { run, stream, samples: wanted }: { run: number; stream: RunStream; samples: number },
): Promise<string[]> {
  const lineBytes = await estimateLineBytes(deps.pool, run, stream)
  const samples = Math.max(1, Math.min(wanted, Math.floor(maxAnswerBytes / Math.max(1, lineBytes))))
  const sample = () => sampleLines(deps.pool, { run, stream, samples })
  const lines = await deps.admission.run('run_reads', sample)
  return lines.map(({ text }) => text)
}

/** Objects with the values of some keys, of lines that have all of them. */
export async function sampleValues(deps: SampleDeps, sample: HistorySample): Promise<Record<string, unknown>[]> {
  const rows = await deps.admission.run('run_reads', () => sampleHistory(deps.pool, sample))
  return rows.map((values) => Object.fromEntries(values.map((value, index) => [sample.keys[index]!, parseText(value)])))
}

/** The history of a run over REST: samples of some keys, or of whole lines. */
export async function readSampledHistory(deps: SampleDeps, { run, query }: { run: number; query: HistoryQuery }) {
  const { samples } = query
  const keys = [...new Set(['_step', ...(query.keys?.split(',') ?? [])])]
  if (keys.length > maxKeys) throw unprocessable(valueError(['query', 'keys'], `must be at most ${maxKeys} keys`))
  if (query.keys === undefined) {
    const lines = await sampleWhole(deps, { run, stream: 'history', samples })
    return { keys: [], rows: lines.map((line) => parseText(line) as Record<string, unknown>) }
  }
  const range = {
    minStep: query.min_step ?? Number.MIN_SAFE_INTEGER,
    maxStep: query.max_step ?? Number.MAX_SAFE_INTEGER,
  }
  return { keys, rows: await sampleValues(deps, { run, keys, samples, ...range }) }
}
