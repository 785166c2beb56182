import { Type, type Static } from 'typebox'
import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { findRun } from '../../../db/runs/find.ts'
import { listHistoryKeys } from '../../../db/runs/key-sets.ts'
import { listTrainedMetrics, sampleTrainedMetric, type SeriesPoint } from '../../../db/runs/model-series.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { getModel } from '../../training/models/service.ts'
import { envelopeSchema, maxTime } from './envelope-schema.ts'
import { listGradientMetrics, readGradientEnvelopes, readTrainedEnvelopes } from './gradient-metrics.ts'
import { sampleValues, type SampleDeps } from './sampled-history.ts'

const maxKeys = 50
const maxMetrics = 1_000
// ART logs in any order, and puts the step of the model beside the values.
const modelStep = 'training_step'
const maxPoints = 4_000

const bound = Type.Number({ minimum: 0, maximum: maxTime })

export const modelMetricsQuery = Type.Object({
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'the metrics whose points are returned, separated by commas. Without it, metrics have no points',
    }),
  ),
  samples: Type.Integer({ minimum: 2, maximum: 10_000, default: 500 }),
  points: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: maxPoints,
      description:
        'asks for envelopes of at most as many buckets, also of gradient steps. Without it, metrics have points',
    }),
  ),
  x: Type.Enum(['step', 'index', 'time'], {
    default: 'step',
    description:
      "of envelopes: the model's step, the number of the gradient step over all jobs of the model, from 0, or the time in " +
      'milliseconds since 1970',
  }),
  from: Type.Optional({ ...bound, description: 'the least x of envelopes' }),
  to: Type.Optional({ ...bound, description: 'the greatest x of envelopes' }),
})

const sourceSchema = Type.Enum(['training', 'gradient', 'logged'], {
  description:
    '`training`: of the jobs, one value each. `gradient`: of their gradient steps. `logged`: by a client, in the run with ' +
    'the name of the model',
})

const seriesSchema = Type.Object({
  key: Type.String(),
  source: sourceSchema,
  count: Type.Integer({ description: 'how many values there are' }),
  points: Type.Array(Type.Object({ step: Type.Integer(), value: Type.Number() }), {
    description: 'at most `samples` values at equal distances, in the order of their steps',
  }),
  envelope: Type.Optional(envelopeSchema),
})

export const modelMetricsSchema = Type.Object({ metrics: Type.Array(seriesSchema) })

export const metricKeysSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      source: sourceSchema,
      count: Type.Integer(),
      last: Type.Union([Type.Number(), Type.Null()], { description: 'the last value. Null for logged ones' }),
    }),
  ),
})

type Series = Static<typeof seriesSchema>
type Query = Static<typeof modelMetricsQuery>
type Metric = Pick<Series, 'key' | 'source' | 'count'>

/** The metrics of a model: those of its training, and those that clients log to its run. @throws {HttpError} 404 */
export async function readModelMetrics(
  deps: SampleDeps,
  ctx: RequestContext,
  { modelId, query }: { modelId: string; query: Query },
): Promise<{ metrics: Series[] }> {
  const model = await getModel(deps.pool, ctx.state.caller.entity, modelId)
  const wanted = readKeys(query)
  const logged = await listLogged(deps, ctx, model, query.samples)
  if (query.points !== undefined && wanted)
    return { metrics: await readEnvelopes(deps, { modelId: model.id, query, wanted, logged }) }
  const trained = (await listTrainedMetrics(deps.pool, model.id)).map(({ key, count }) => {
    const points = () => sampleTrainedMetric(deps.pool, { modelId: model.id, key, samples: query.samples })
    return { key, source: 'training' as const, count, points }
  })
  const all = [...trained, ...logged]
  if (!wanted) return { metrics: all.slice(0, maxMetrics).map((metric) => ({ ...metric, points: [] })) }
  return { metrics: await readPoints(all.filter(({ key }) => wanted.has(key))) }
}

/** Lists all metrics of a model, without points. @throws {HttpError} 404 */
export async function listModelMetricKeys(deps: SampleDeps, ctx: RequestContext, modelId: string) {
  const model = await getModel(deps.pool, ctx.state.caller.entity, modelId)
  const logged = await listLogged(deps, ctx, model, 2)
  const gradient = (await listGradientMetrics(deps.pool, model.id)).map((metric) => ({
    ...metric,
    source: 'gradient' as const,
  }))
  const trained = (await listTrainedMetrics(deps.pool, model.id)).map((metric) => ({
    ...metric,
    source: 'training' as const,
  }))
  const ofRun = logged.map(({ key, source, count }) => ({ key, source, count, last: null }))
  return { keys: [...gradient, ...trained, ...ofRun].slice(0, maxMetrics) }
}

interface WantedEnvelopes {
  modelId: string
  query: Query
  wanted: Set<string>
  logged: LoggedMetric[]
}

/** Values of a client's run have no stored buckets: they stay points. */
async function readEnvelopes(
  { pool }: SampleDeps,
  { modelId, query, wanted, logged }: WantedEnvelopes,
): Promise<Series[]> {
  const { x, from, to, points = maxPoints } = query
  const range = { x, from, to, points, keys: [...wanted] }
  const gradient = await readGradientEnvelopes(pool, modelId, range)
  const trained = await readTrainedEnvelopes(pool, modelId, range)
  const ofJobs = [...wanted].flatMap((key) => [
    ...describe({ key, source: 'gradient' }, gradient.get(key)),
    ...describe({ key, source: 'training' }, trained.get(key)),
  ])
  return [...ofJobs, ...(await readPoints(logged.filter(({ key }) => wanted.has(key))))]
}

function describe(metric: Omit<Metric, 'count'>, envelope: Series['envelope']): Series[] {
  const count = envelope?.count.reduce((sum, each) => sum + each, 0) ?? 0
  return envelope && count > 0 ? [{ ...metric, count, points: [], envelope }] : []
}

async function readPoints(found: LoggedMetric[]): Promise<Series[]> {
  const metrics: Series[] = []
  for (const { points, ...metric } of found) metrics.push({ ...metric, points: await points() })
  return metrics
}

function readKeys({ keys }: Query): Set<string> | undefined {
  if (keys === undefined) return undefined
  const names = new Set(keys.split(','))
  if (names.size > maxKeys) throw unprocessable(valueError(['query', 'keys'], `must be at most ${maxKeys} keys`))
  return names
}

type LoggedMetric = Metric & { points: () => Promise<SeriesPoint[]> }

async function listLogged(
  deps: SampleDeps,
  ctx: RequestContext,
  model: Parameters<typeof findRun>[1],
  samples: number,
): Promise<LoggedMetric[]> {
  const run = (await findRun(deps.pool, model))?.number
  if (run === undefined) return []
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
  const rows = await sampleValues(deps, { run, keys: [stepKey, key], samples, minStep, maxStep })
  const points = rows.map((row) => ({ step: row[stepKey], value: row[key] }))
  // A client may log a text where it logs a number elsewhere.
  return points.filter(isPoint).toSorted((a, b) => a.step - b.step)
}

function isPoint(point: { step: unknown; value: unknown }): point is SeriesPoint {
  return Number.isSafeInteger(point.step) && typeof point.value === 'number'
}
