import { badRequest } from '../errors.ts'
import type { Router } from '@koa/router'
import type { Static } from 'typebox'
import { listProjectNumbers, sumStored, type StoredKind } from '../../../db/tracing/project-facts.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Project, ProjectDeps } from '../projects.ts'
import type { TraceApi } from '../trace-api.ts'
import {
  projectsInfoAnswer,
  projectsInfoSchema,
  projectStatsAnswer,
  projectStatsSchema,
  serverInfoSchema,
} from './schema.ts'

const tag = 'Service'

// A client older than the first version sends nothing. A client that needs a newer server than the second sends nothing
// either.
const serverInfo = { min_required_weave_python_version: '0.0.1', trace_server_version: '0.54.0' }

/** The liveness check. It needs no key and calls no other part. */
export function routeTraceHealth(router: Router): void {
  router.get(['/health', '/traces/health'], (ctx) => {
    ctx.body = { status: 'ok' }
  })
}

/** Information about the server, and the storage of projects. */
export function routeService(api: TraceApi, deps: ProjectDeps): void {
  const infoOperation = { tag, summary: 'Get information about the server', answer: serverInfoSchema }
  api.get('/server_info', infoOperation, () => Promise.resolve(serverInfo))

  api.post(
    '/service/projects_info',
    {
      tag,
      summary: 'Find the internal ids of projects',
      description: 'Projects that do not exist, or belong to another entity, are left out.',
      role: 'read',
      body: projectsInfoSchema,
      answer: projectsInfoAnswer,
    },
    async ({ caller: { entity }, body }) => {
      const found = await listProjectNumbers(deps.pool, entity, readNames(entity, body.project_ids))
      return found.map(({ name, number }) => ({
        external_project_id: `${entity}/${name}`,
        internal_project_id: String(number),
      }))
    },
  )

  api.post(
    '/project/stats',
    {
      tag,
      summary: 'Get the stored bytes of a project',
      description: 'Bytes of the requested kinds, by default all. The other kinds are 0.',
      role: 'read',
      body: projectStatsSchema,
      answer: projectStatsAnswer,
    },
    async ({ caller, body }) => measureProject(deps.pool, await deps.projects.find(caller, body.project_id), body),
  )
}

/** The names of the entity's own projects, without names that Postgres rejects. */
function readNames(entity: string, projectIds: string[]): string[] {
  const names = projectIds.filter((id) => id.startsWith(`${entity}/`)).map((id) => id.slice(entity.length + 1))
  return names.filter((name) => !name.includes('\0'))
}

async function measureProject(
  pool: Pool,
  { number }: Project,
  wanted: Static<typeof projectStatsSchema>,
): Promise<Static<typeof projectStatsAnswer>> {
  const isWanted = {
    trace: wanted.include_trace_storage_size ?? true,
    objects: wanted.include_object_storage_size ?? true,
    tables: wanted.include_table_storage_size ?? true,
    files: wanted.include_file_storage_size ?? true,
  }
  if (!Object.values(isWanted).includes(true)) throw badRequest('At least one storage size must be asked for')
  const measure = async (kind: StoredKind) => (isWanted[kind] ? sumStored(pool, number, kind) : 0)
  return {
    trace_storage_size_bytes: await measure('trace'),
    objects_storage_size_bytes: await measure('objects'),
    tables_storage_size_bytes: await measure('tables'),
    files_storage_size_bytes: await measure('files'),
  }
}
