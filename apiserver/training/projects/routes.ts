import { Type } from 'typebox'
import { listTrainedProjects } from '../../../db/projects/projects.ts'
import { listTraceProjects } from '../../../db/tracing/projects.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { listOf, pageQuery, presentPage } from '../../../lib/http/page.ts'
import type { ErasureDeps } from '../erasures/service.ts'
import { mergeProjects, type Project } from './merge.ts'

const count = Type.Integer({ minimum: 0 })

const projectSchema = Type.Object({
  id: Type.String({ description: 'its name' }),
  entity: Type.String(),
  name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  models: count,
  runs: { ...count, description: 'runs of the wandb SDK' },
  data_sets: count,
  has_traces: Type.Boolean(),
})

const projectListQuery = Type.Object({
  ...pageQuery.properties,
  after: Type.Optional(Type.String({ maxLength: 256, pattern: '^[^\\u0000]*$', description: 'the name of a project' })),
})

/** A project is there as soon as something is in it. */
export function routeProjects(api: RestApi, { pool, tracing }: ErasureDeps): void {
  api.get(
    '/v1/preview/projects',
    { tag: 'Projects', summary: 'List projects by name', query: projectListQuery, answer: listOf(projectSchema) },
    async ({ caller: { entity }, query: { after, limit } }) => {
      const page = { after, limit: limit + 1 }
      const [trained, traced] = await Promise.all([
        listTrainedProjects(pool, entity, page),
        listTraceProjects(tracing, entity, page),
      ])
      return presentPage(mergeProjects(trained, traced, page.limit), limit, (row) => presentProject(entity, row))
    },
  )
}

function presentProject(entity: string, { name, createdAt, models, runs, dataSets, hasTraces }: Project) {
  return {
    id: name,
    entity,
    name,
    created_at: createdAt.toISOString(),
    models,
    runs,
    data_sets: dataSets,
    has_traces: hasTraces,
  }
}
