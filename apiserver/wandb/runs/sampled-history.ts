import { HttpError, valueError, unprocessable } from '../../../lib/http/http-error.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { estimateLineBytes, sampleHistory, sampleLines, type HistorySample } from '../../../db/runs/read-lines.ts'
import type { Accept } from '../../../db/runs/read-measured.ts'
import type { RunStream } from '../../../db/runs/write-lines.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { errors } from '../../errors/table.ts'
import { readInTurn } from './read-turns.ts'
import type { HistoryQuery } from './schema.ts'

export interface SampleDeps {
  memory: RequestMemory
  pool: Pool
}

/** The texts of one answer have at most so many bytes. */
const maxAnswerBytes = 64 * 1024 * 1024
// The text, and the texts that it is put into.
const copies = 3
const maxKeys = 200

/**
 * Accepts texts for an answer, and reserves its memory. @throws {HttpError} 400 if they are too many for one answer; 413,
 * 429 or 503 if there is not enough memory
 */
export function acceptAnswer({ memory }: SampleDeps, ctx: RequestContext, advice = 'Request fewer lines'): Accept {
  return (bytes) => {
    if (bytes > maxAnswerBytes) {
      const detail = `This would read ${bytes} bytes of a run. At most ${maxAnswerBytes} are read at once. ${advice}.`
      throw new HttpError(errors.bad_request, detail)
    }
    memory.open(ctx).add(Math.ceil(bytes * copies))
  }
}

/** Whole lines at equal distances. There are fewer than asked for if they are large. */
export async function sampleWhole(
  deps: SampleDeps,
  ctx: RequestContext,
  { run, stream, samples: wanted }: { run: number; stream: RunStream; samples: number },
): Promise<string[]> {
  const lineBytes = await estimateLineBytes(deps.pool, run, stream)
  const samples = Math.max(1, Math.min(wanted, Math.floor(maxAnswerBytes / Math.max(1, lineBytes))))
  const accept = acceptAnswer(deps, ctx)
  const sample = () => sampleLines(deps.pool, { run, stream, samples }, accept)
  const lines = await readInTurn(ctx.state.caller, sample)
  return lines.map(({ text }) => text)
}

/** Objects with the values of some keys, of lines that have all of them. */
export async function sampleValues(
  deps: SampleDeps,
  ctx: RequestContext,
  sample: HistorySample,
): Promise<Record<string, unknown>[]> {
  const accept = acceptAnswer(deps, ctx)
  const rows = await readInTurn(ctx.state.caller, () => sampleHistory(deps.pool, sample, accept))
  return rows.map((values) => Object.fromEntries(values.map((value, index) => [sample.keys[index]!, parseText(value)])))
}

/** The history of a run over REST: samples of some keys, or of whole lines. */
export async function readSampledHistory(
  deps: SampleDeps,
  ctx: RequestContext,
  { run, query }: { run: number; query: HistoryQuery },
) {
  const { samples } = query
  const keys = [...new Set(['_step', ...(query.keys?.split(',') ?? [])])]
  if (keys.length > maxKeys) throw unprocessable(valueError(['query', 'keys'], `must be at most ${maxKeys} keys`))
  if (query.keys === undefined) {
    const lines = await sampleWhole(deps, ctx, { run, stream: 'history', samples })
    return { keys: [], rows: lines.map((line) => parseText(line) as Record<string, unknown>) }
  }
  const range = {
    minStep: query.min_step ?? Number.MIN_SAFE_INTEGER,
    maxStep: query.max_step ?? Number.MAX_SAFE_INTEGER,
  }
  return { keys, rows: await sampleValues(deps, ctx, { run, keys, samples, ...range }) }
}
