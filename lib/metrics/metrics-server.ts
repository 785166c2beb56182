import type { Server, ServerResponse } from 'node:http'
import { Registry } from 'prom-client'
import { Type } from 'typebox'
import { startServer } from '../http/server.ts'
import type { Logger } from '../log.ts'
import { SharedLoads } from '../shared-loads.ts'

/** The setting of the port. Without it, a process serves no metrics. */
export const metricsSettings = {
  TRAINYARD_METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
}

interface MetricsAddress {
  TRAINYARD_HOST: string
  TRAINYARD_METRICS_PORT?: number | undefined
}

/** Writes all metrics in Prometheus' text format. */
type ReadMetrics = () => Promise<string>

// Prometheus keeps one connection. A second Prometheus and a person may come beside it.
const limits = { maxConnections: 32, headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 5_000 }

/** Serves GET /metrics on a port of its own, and nothing else. Scrapes at the same time share one reading. */
export async function startMetricsServer(
  { TRAINYARD_HOST: host, TRAINYARD_METRICS_PORT: port }: MetricsAddress,
  read: ReadMetrics,
  log: Logger,
): Promise<Server | undefined> {
  if (port === undefined) return undefined
  const readings = new SharedLoads<string>()
  const answer = async (response: ServerResponse) => {
    try {
      send(response, 200, await readings.get('', read))
    } catch (error) {
      log.warn({ error }, 'metrics not read')
      send(response, 500, 'The metrics could not be read. The log of this process says why.\n')
    }
  }
  const server = await startServer(
    ({ method, url }, response) => {
      if (method === 'GET' && url?.split('?')[0] === '/metrics') void answer(response)
      else send(response, 404, 'Not found. Metrics are at GET /metrics.\n')
    },
    { host, port, ...limits },
  )
  log.info({ host, port }, 'serving metrics')
  return server
}

function send(response: ServerResponse, status: number, text: string): void {
  const type = status === 200 ? Registry.PROMETHEUS_CONTENT_TYPE : 'text/plain'
  response.writeHead(status, { 'content-type': type }).end(text)
}
