import { unprocessable, valueError } from '../../../../lib/http/http-error.ts'
import { findRun } from '../../../../db/runs/find.ts'
import { listHistoryKeys } from '../../../../db/runs/key-sets.ts'
import {
  listTrainedMetrics,
  sampleTrainedMetric,
  type SeriesPoint,
} from '../../../../db/model-metrics/trained-metrics.ts'
import type { Pool } from '../../../../db/pool.ts'
import type { RequestContext } from '../../../accounts/context.ts'
import type { Admission } from '../../../accounts/limits/admission.ts'
import { parseText } from '../../../../lib/json/parse-text.ts'
import { sampleHistory } from '../../../../db/runs/read-lines.ts'
import { getModel } from '../service.ts'
import { maxPoints, type ModelMetricsQuery as Query, type Series } from './schema.ts'
import { listGradientMetrics, readGradientEnvelopes, readTrainedEnvelopes } from './gradient-metrics.ts'

export interface MetricsDeps {
  admission: Admission
  pool: Pool
}

const maxKeys = 50
const maxMetrics = 1_000
// ART logs in any order, and puts the step of the model beside the values.
const modelStep = 'training_step'
type Metric = Pick<Series, 'key' | 'source' | 'count'>

/** The metrics of a model: those of its training, and those that clients log to its run. @throws {HttpError} 404 */
export async function readModelMetrics(
  deps: MetricsDeps,
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
export async function listModelMetricKeys(deps: MetricsDeps, ctx: RequestContext, modelId: string) {
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
  { pool }: MetricsDeps,
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
  deps: MetricsDeps,
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
  { admission, pool }: MetricsDeps,
  ctx: RequestContext,
  { run, samples, key, stepKey }: { run: number; samples: number; key: string; stepKey: string },
): Promise<SeriesPoint[]> {
  const [minStep, maxStep] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  const sample = { run, keys: [stepKey, key], samples, minStep, maxStep }
  const rows = await admission.run('run_reads', () => sampleHistory(pool, sample))
  const points = rows.map(([step, value]) => ({ step: parseText(step!), value: parseText(value!) }))
  // A client may log a text where it logs a number elsewhere.
  return points.filter(isPoint).toSorted((a, b) => a.step - b.step)
}

function isPoint(point: { step: unknown; value: unknown }): point is SeriesPoint {
  return Number.isSafeInteger(point.step) && typeof point.value === 'number'
}
