import { buildOrigin } from '../lib/origin.ts'

/** The port of the engine in a pod. */
export const enginePort = 8000

/** The port of the metrics of engines and trainers. Prometheus has no key, so metrics have their own port. */
export const metricsPort = 8001

/** The same of a trainer that has a common pod with its engine. */
export const colocatedTrainerMetricsPort = 8002

/** The origin of the engine in a pod with this address, such as `http://10.0.0.7:8000`. */
export function engineOrigin(podIp: string): string {
  return buildOrigin('http', podIp, enginePort)
}

/** The address of the metrics of the engine in a pod with this address. */
export function engineMetricsUrl(podIp: string): string {
  return `${buildOrigin('http', podIp, metricsPort)}/metrics`
}
