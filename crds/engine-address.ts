import { buildOrigin } from '../lib/origin.ts'

/** The port that the engine in a pod listens on. */
export const enginePort = 8000

/** Where the engine of a pod with this address answers, such as `http://10.0.0.7:8000`. */
export function engineOrigin(podIp: string): string {
  return buildOrigin('http', podIp, enginePort)
}
