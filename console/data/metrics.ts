import { queryOptions } from '@tanstack/react-query'
import type { Point } from '../logic/series.ts'
import { callApi } from './client.ts'

export interface Metric {
  key: string
  count: number
}

/** The names of a model's metrics, without their points. */
export function metricKeysQuery(modelId: string) {
  return queryOptions({
    queryKey: ['metric keys', modelId],
    queryFn: async ({ signal }): Promise<Metric[]> => {
      const { metrics } = await callApi('GET /v1/preview/models/{model_id}/metrics', {
        path: { model_id: modelId },
        signal,
      })
      return metrics.map(({ key, count }) => ({ key, count }))
    },
  })
}

/** The points of some metrics of a model, by the model's step. */
export function metricsQuery(modelId: string, keys: readonly string[], samples = 1_000) {
  return queryOptions({
    queryKey: ['metrics', modelId, [...keys], samples],
    enabled: keys.length > 0,
    queryFn: async ({ signal }): Promise<Record<string, Point[]>> => {
      const { metrics } = await callApi('GET /v1/preview/models/{model_id}/metrics', {
        path: { model_id: modelId },
        query: { keys: keys.join(','), samples },
        signal,
      })
      // A client may log a metric that training has too. The values of training count.
      return Object.fromEntries(
        metrics.toSorted((a, b) => (a.source < b.source ? -1 : 1)).map(({ key, points }) => [key, points]),
      )
    },
  })
}
