import type { RestApi } from '../../../accounts/rest-api.ts'
import { metricKeysSchema, modelMetricsQuery, modelMetricsSchema } from './schema.ts'
import { listModelMetricKeys, readModelMetrics, type MetricsDeps } from './service.ts'

const tag = 'Models'

/** The curves of a model: the metrics of its training, and those that clients log to the run with its name. */
export function routeModelMetrics(api: RestApi, deps: MetricsDeps): void {
  api.get(
    '/v1/preview/models/{model_id}/metrics',
    {
      tag,
      summary: "Read a model's metrics, of its training and of its run",
      description:
        'Values that clients log to the run with the name of the model, as ART does for its validation, are beside those ' +
        'of its training. With `points`, metrics of the training come as envelopes: as they are, if they have at most as ' +
        'many values in the range, else as the least, greatest, mean and last value of each bucket.',
      query: modelMetricsQuery,
      answer: modelMetricsSchema,
    },
    ({ ctx, params, query }) => readModelMetrics(deps, ctx, { modelId: params.model_id, query }),
  )
  api.get(
    '/v1/preview/models/{model_id}/metric-keys',
    { tag, summary: "List a model's metrics, with their last values", answer: metricKeysSchema },
    ({ ctx, params }) => listModelMetricKeys(deps, ctx, params.model_id),
  )
}
