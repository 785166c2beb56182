import { engineMetricsUrl } from '../../crds/engine-address.ts'
import type { Pod } from '../../lib/kube/objects.ts'

const timeoutMs = 2_000
// vLLM has one such line for each of its processes.
const running = /^vllm:num_requests_running(?:\{[^}]*\})? (\S+)$/gm

/** Whether an engine answers requests now, by its own metrics. Undefined if it does not say. */
export async function isEngineBusy(pod: Pod): Promise<boolean | undefined> {
  const ip = pod.status?.podIP
  if (ip === undefined) return undefined
  try {
    const response = await fetch(engineMetricsUrl(ip), { signal: AbortSignal.timeout(timeoutMs) })
    return findBusy(await response.text())
  } catch {
    return undefined
  }
}

/** Reads it from metrics in Prometheus' text format. */
export function findBusy(text: string): boolean | undefined {
  const counts = [...text.matchAll(running)].map((match) => Number(match[1]))
  return counts.length === 0 ? undefined : counts.some((count) => count > 0)
}
