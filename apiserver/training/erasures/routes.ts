import type { RestApi } from '../../accounts/rest-api.ts'
import { isRetry } from '../../../lib/http/retry.ts'
import { listOf, pageQuery, presentPage } from '../../../lib/http/page.ts'
import { presentErasure } from './present.ts'
import { erasureSchema } from './schema.ts'
import { eraseEntity, eraseProject, getErasure, listOwnErasures, type ErasureDeps } from './service.ts'

const tag = 'Erasure'
const role = 'admin'
const erasing = { tag, role, answer: erasureSchema, status: 202, idempotent: true, idParameter: 'erasure_id' } as const

export function routeErasures(api: RestApi, deps: ErasureDeps): void {
  api.delete(
    '/v1/preview/projects/{project}',
    {
      ...erasing,
      summary: 'Erase a project',
      description:
        'Erases models, checkpoints, jobs, trajectories, logs and data sets, with their files. After the answer, ' +
        'nothing of the project is visible. The report has the amounts, and the time when all is erased.',
    },
    async ({ ctx, caller, newId, params }) => {
      const request = { caller, newId, repeated: isRetry(ctx) }
      return presentErasure(await eraseProject(deps, request, params.project))
    },
  )

  api.delete(
    '/v1/preview/entities/{entity}',
    {
      ...erasing,
      summary: 'Erase your entity',
      description:
        'Erases all projects, webhooks, usage and keys. The key of this request is erased last: it can read the ' +
        'report for a day.',
    },
    async ({ ctx, caller, newId, params }) => {
      const request = { caller, newId, repeated: isRetry(ctx) }
      return presentErasure(await eraseEntity(deps, request, params.entity))
    },
  )

  api.get(
    '/v1/preview/erasures',
    { tag, role, summary: 'List erasures', query: pageQuery, answer: listOf(erasureSchema) },
    async ({ caller, query }) => {
      const rows = await listOwnErasures(deps.pool, caller.entity, query)
      return presentPage(rows, query.limit, presentErasure)
    },
  )

  api.get(
    '/v1/preview/erasures/{erasure_id}',
    { tag, role, summary: 'Get the report of an erasure', answer: erasureSchema },
    async ({ caller, params }) => presentErasure(await getErasure(deps.pool, caller.entity, params.erasure_id)),
  )
}
