import { buildOrigin } from '../lib/origin.ts'

/** The port of the engine in a pod. */
export const enginePort = 8000

/** The origin of the engine in a pod with this address, such as `http://10.0.0.7:8000`. */
export function engineOrigin(podIp: string): string {
  return buildOrigin('http', podIp, enginePort)
}
