import type { TraceDeps } from '../deps.ts'
import type { TraceApi } from '../trace-api.ts'
import { routeIngest } from './ingest-routes.ts'

export function routeCalls(api: TraceApi, deps: TraceDeps): void {
  routeIngest(api, deps)
}
