import { Type } from 'typebox'
import { listTrainedProjects, nameTrainedProjects } from '../../../db/projects/projects.ts'
import { listTraceProjects, nameTraceProjects } from '../../../db/tracing/projects.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { countTotal, countedListOf, countedPageQuery, presentPage, withTotal } from '../../../lib/http/page.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
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
  has_traces: nullable({ ...Type.Boolean(), description: 'null while it is not known' }),
})

const projectListSchema = Type.Object({
  ...countedListOf(projectSchema).properties,
  has_all_traces: Type.Boolean({
    description: 'false while the database of traces is unavailable: projects that have only traces are missing then',
  }),
})

const projectListQuery = Type.Object({
  ...countedPageQuery.properties,
  after: Type.Optional(Type.String({ maxLength: 256, pattern: '^[^\\u0000]*$', description: 'the name of a project' })),
})

/** A project is there as soon as something is in it. */
export function routeProjects(api: RestApi, { pool, tracing }: ErasureDeps): void {
  api.get(
    '/v1/preview/projects',
    { tag: 'Projects', summary: 'List projects by name', query: projectListQuery, answer: projectListSchema },
    async ({ caller: { entity }, query: { after, limit, max_total: maxTotal } }) => {
      const page = { after, limit: limit + 1 }
      const [trained, traced] = await Promise.all([
        listTrainedProjects(pool, entity, page),
        listTraceProjects(tracing, entity, page).catch(ignoreUnavailable),
      ])
      const projects = mergeProjects(trained, traced, page.limit)
      const list = presentPage(projects, limit, (row) => presentProject(entity, row))
      return {
        ...withTotal(list, await countTotal(maxTotal, (max) => countProjects({ pool, tracing }, entity, max))),
        has_all_traces: traced !== undefined,
      }
    },
  )
}

/** Counts the projects, up to `most`. */
async function countProjects({ pool, tracing }: ErasureDeps, entity: string, most: number): Promise<number> {
  const [trained, traced] = await Promise.all([
    nameTrainedProjects(pool, entity, most),
    nameTraceProjects(tracing, entity, most).catch(ignoreUnavailable),
  ])
  return Math.min(most, new Set([...trained, ...(traced ?? [])]).size)
}

/** Training does not wait for the database of traces. */
function ignoreUnavailable(error: unknown): undefined {
  if (!isDatabaseUnavailable(error)) throw error
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
