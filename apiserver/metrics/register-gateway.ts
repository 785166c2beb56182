import type { Registry } from 'prom-client'
import { registerGauge } from '../../lib/metrics/computed.ts'
import type { EngineLoad } from '../inference/engines/base-model-engines.ts'
import { gatewayMetrics } from './table.ts'

/** The load of a base model, by the name of its resource. */
type NamedLoad = EngineLoad & { baseModel: string }

const { gauges } = gatewayMetrics

/** Registers the metrics of the gateway. They are read from its own numbers when it is scraped. */
export function registerGatewayMetrics(registry: Registry, listLoads: () => readonly NamedLoad[]): void {
  registerGauge(registry, gauges.inFlight, () =>
    listLoads().map(({ baseModel, inFlight }) => ({ labels: { base_model: baseModel }, value: inFlight })),
  )
  registerGauge(registry, gauges.engines, () =>
    listLoads().map(({ baseModel, usable }) => ({ labels: { base_model: baseModel }, value: usable })),
  )
  registerGauge(registry, gauges.waiting, () =>
    listLoads().flatMap(({ baseModel, held, busy }) => [
      { labels: { base_model: baseModel, reason: 'held' }, value: held },
      { labels: { base_model: baseModel, reason: 'busy' }, value: busy },
    ]),
  )
}
