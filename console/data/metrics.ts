import { queryOptions } from '@tanstack/react-query'
import { Batches } from '../logic/batches.ts'
import { chooseCurves, type Axis, type Curve } from '../logic/curves.ts'
import { callApi, type Answer, type Parts } from './client.ts'

const operation = 'GET /v1/preview/models/{model_id}/metrics'

/** Above so many values, a chart shows the bounds and the mean of each bucket. */
export const maxPoints = 2_000

export type Metric = Answer<'GET /v1/preview/models/{model_id}/metric-keys'>['keys'][number]

/** The names of a model's metrics, without their values. */
export function metricKeysQuery(modelId: string) {
  return queryOptions({
    queryKey: ['metric keys', modelId],
    queryFn: async ({ signal }): Promise<Metric[]> =>
      (await callApi('GET /v1/preview/models/{model_id}/metric-keys', { path: { model_id: modelId }, signal })).keys,
  })
}

/** What is read of some metrics. A narrower range has finer buckets. */
export interface MetricRange {
  axis?: Axis
  from?: number | undefined
  to?: number | undefined
  points?: number
}

/** The request for some metrics of a model. */
export function metricsRequest(modelId: string, keys: readonly string[], range: MetricRange): Parts<typeof operation> {
  const { axis = 'step', from, to, points = maxPoints } = range
  const bounds = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  return { path: { model_id: modelId }, query: { keys: keys.join(','), points, x: axis, ...bounds } }
}

// An address has room for so many long names.
const maxKeys = 20

/** The charts of a run ask together: Postgres reads all metrics of a bucket in any case. A batch's name is its request. */
const batches = new Batches(async (name, keys, signal) => {
  const { modelId, range } = JSON.parse(name) as { modelId: string; range: MetricRange }
  return (await callApi(operation, { ...metricsRequest(modelId, keys, range), signal })).metrics
}, maxKeys)

/** The curves of some metrics of a model. */
export function metricsQuery(modelId: string, keys: readonly string[], range: MetricRange = {}) {
  return queryOptions({
    queryKey: ['metrics', metricsRequest(modelId, keys, range)] as const,
    enabled: keys.length > 0,
    queryFn: async ({ signal }): Promise<Record<string, Curve>> => {
      const metrics = await batches.get(JSON.stringify({ modelId, range }), keys, signal)
      return chooseCurves(
        metrics.filter(({ key }) => keys.includes(key)),
        range.axis ?? 'step',
      )
    },
  })
}
