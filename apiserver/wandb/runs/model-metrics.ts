import { Type, type Static } from 'typebox'
import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { findRun } from '../../../db/runs/find.ts'
import { listHistoryKeys } from '../../../db/runs/key-sets.ts'
import { listTrainedMetrics, sampleTrainedMetric, type SeriesPoint } from '../../../db/runs/model-series.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { getModel } from '../../training/models/service.ts'
import { sampleValues, type SampleDeps } from './sampled-history.ts'

const maxKeys = 50
const maxMetrics = 1_000
// ART logs in any order, and puts the step of the model beside the values.
const modelStep = 'training_step'

export const modelMetricsQuery = Type.Object({
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'the metrics whose points are returned, separated by commas. Without it, metrics have no points',
    }),
  ),
  samples: Type.Integer({ minimum: 2, maximum: 10_000, default: 500 }),
})

const seriesSchema = Type.Object({
  key: Type.String(),
  source: Type.Enum(['training', 'logged'], {
    description: '`training`: of the jobs. `logged`: by a client, in the run with the name of the model',
  }),
  count: Type.Integer({ description: 'how many values there are' }),
  points: Type.Array(Type.Object({ step: Type.Integer(), value: Type.Number() }), {
    description: 'at most `samples` values at equal distances, in the order of their steps',
  }),
})

export const modelMetricsSchema = Type.Object({ metrics: Type.Array(seriesSchema) })

type Series = Static<typeof seriesSchema>
type Query = Static<typeof modelMetricsQuery>

/** The metrics of a model: those of its training, and those that clients log to its run. @throws {HttpError} 404 */
export async function readModelMetrics(
  deps: SampleDeps,
  ctx: RequestContext,
  { modelId, query }: { modelId: string; query: Query },
): Promise<{ metrics: Series[] }> {
  const model = await getModel(deps.pool, ctx.state.caller.entity, modelId)
  const wanted = readKeys(query)
  const trained = (await listTrainedMetrics(deps.pool, model.id)).map(({ key, count }) => {
    const points = () => sampleTrainedMetric(deps.pool, { modelId: model.id, key, samples: query.samples })
    return { key, source: 'training' as const, count, points }
  })
  const run = await findRun(deps.pool, model)
  const logged = run ? await listLogged(deps, ctx, { run: run.number, samples: query.samples }) : []
  const all = [...trained, ...logged]
  if (!wanted) return { metrics: all.slice(0, maxMetrics).map((metric) => ({ ...metric, points: [] })) }
  const metrics: Series[] = []
  for (const { points, ...metric } of all.filter(({ key }) => wanted.has(key)))
    metrics.push({ ...metric, points: await points() })
  return { metrics }
}

function readKeys({ keys }: Query): Set<string> | undefined {
  if (keys === undefined) return undefined
  const names = new Set(keys.split(','))
  if (names.size > maxKeys) throw unprocessable(valueError(['query', 'keys'], `must be at most ${maxKeys} keys`))
  return names
}

async function listLogged(
  deps: SampleDeps,
  ctx: RequestContext,
  { run, samples }: { run: number; samples: number },
): Promise<(Omit<Series, 'points'> & { points: () => Promise<SeriesPoint[]> })[]> {
  const keys = await listNumbers(deps.pool, run)
  const stepKey = keys.some(({ key }) => key === modelStep) ? modelStep : '_step'
  return keys
    .filter(({ key }) => key !== modelStep && !key.startsWith('_'))
    .map(({ key, lines }) => ({
      key,
      source: 'logged',
      count: lines,
      points: () => sampleLogged(deps, ctx, { run, samples, key, stepKey }),
    }))
}

async function listNumbers(pool: Pool, run: number): Promise<{ key: string; lines: number }[]> {
  return (await listHistoryKeys(pool, run)).filter(({ type }) => type === 'number')
}

async function sampleLogged(
  deps: SampleDeps,
  ctx: RequestContext,
  { run, samples, key, stepKey }: { run: number; samples: number; key: string; stepKey: string },
): Promise<SeriesPoint[]> {
  const [minStep, maxStep] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  const rows = await sampleValues(deps, ctx, { run, keys: [stepKey, key], samples, minStep, maxStep })
  const points = rows.map((row) => ({ step: row[stepKey], value: row[key] }))
  // A client may log a text where it logs a number elsewhere.
  return points.filter(isPoint).toSorted((a, b) => a.step - b.step)
}

function isPoint(point: { step: unknown; value: unknown }): point is SeriesPoint {
  return Number.isSafeInteger(point.step) && typeof point.value === 'number'
}
