import type { RestApi } from '../../accounts/rest-api.ts'
import { requireProjectName } from '../project-path.ts'
import type { ProjectDeps } from '../projects.ts'
import { callStatisticsQuery, callStatisticsSchema } from './schema.ts'
import { readCallStatistics } from './service.ts'

export function routeCallStatistics(api: RestApi, deps: ProjectDeps): void {
  api.post(
    '/v1/preview/projects/{project}/calls/statistics',
    {
      tag: 'Tracing',
      summary: 'Count calls by time, op, status, thread and model',
      description: '`filter` and `query` are those of `/traces/calls/stream_query`.',
      role: 'read',
      body: callStatisticsQuery,
      answer: callStatisticsSchema,
    },
    ({ caller, params, body }) => {
      const projectId = `${caller.entity}/${requireProjectName(params.project)}`
      return readCallStatistics(deps, { caller, projectId }, body)
    },
  )
}
