import type { TraceDeps } from '../deps.ts'
import type { TraceApi } from '../trace-api.ts'
import { routeCallChanges } from './change-routes.ts'
import { routeIngest } from './ingest-routes.ts'
import { routeCallQueries } from './query-routes.ts'

export function routeCalls(api: TraceApi, deps: TraceDeps): void {
  routeIngest(api, deps)
  routeCallQueries(api, deps)
  routeCallChanges(api, deps)
}
