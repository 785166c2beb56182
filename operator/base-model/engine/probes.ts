import { enginePort } from '../../../crds/engine-address.ts'

const health = { path: '/health', port: enginePort }

/** The probes of an engine. It is Ready after a warm-up. */
export const engineProbes = {
  // Held requests wait for it. A first start may download weights for hours. Killing it would begin the download anew.
  startupProbe: { httpGet: health, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 86_400 },
  readinessProbe: { httpGet: health, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 2 },
  livenessProbe: { httpGet: health, periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 6 },
}
