import type { TraceApi } from '../trace-api.ts'
import { routeCallChanges } from './change-routes.ts'
import { routeIngest, type IngestDeps } from './ingest-routes.ts'
import { routeCallQueries, type CallQueryDeps } from './query-routes.ts'

export function routeCalls(api: TraceApi, deps: CallQueryDeps & IngestDeps): void {
  routeIngest(api, deps)
  routeCallQueries(api, deps)
  routeCallChanges(api, deps)
}
