import { collectDefaultMetrics, Registry } from 'prom-client'

/** A registry with what prom-client measures of each process: processor time, memory, and the lag of the event loop. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}
