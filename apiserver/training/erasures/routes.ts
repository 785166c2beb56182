import type { RestApi } from '../../accounts/rest-api.ts'
import { isRetry } from '../../../lib/http/retry.ts'
import { listOf, pageQuery, presentPage } from '../../../lib/http/page.ts'
import { presentErasure } from './present.ts'
import { erasureSchema } from './schema.ts'
import { eraseEntity, eraseProject, getErasure, listOwnErasures, type ErasureDeps } from './service.ts'

const tag = 'Erasure'
const role = 'admin'

export function routeErasures(api: RestApi, deps: ErasureDeps): void {
  api.delete(
    '/v1/preview/projects/{project}',
    {
      tag,
      role,
      summary: 'Erase a project everywhere',
      description:
        'Models, checkpoints, jobs, trajectories, logs, data sets, and their files. Nothing of it is to be seen any ' +
        'more when this is answered; the report tells when it is gone, and how much it was.',
      answer: erasureSchema,
      status: 202,
      idempotent: true,
      idParameter: 'erasure_id',
    },
    async ({ ctx, caller, newId, params }) => {
      const request = { caller, newId, repeated: isRetry(ctx) }
      return presentErasure(await eraseProject(deps, request, params.project))
    },
  )

  api.delete(
    '/v1/preview/entities/{entity}',
    {
      tag,
      role,
      summary: 'Erase your entity everywhere',
      description:
        'As a project, with all projects, webhooks, usage and keys. The key that asks goes last: it can read the ' +
        'report for a day.',
      answer: erasureSchema,
      status: 202,
      idempotent: true,
      idParameter: 'erasure_id',
    },
    async ({ ctx, caller, newId, params }) => {
      const request = { caller, newId, repeated: isRetry(ctx) }
      return presentErasure(await eraseEntity(deps, request, params.entity))
    },
  )

  api.get(
    '/v1/preview/erasures',
    { tag, role, summary: 'List the erasures', query: pageQuery, answer: listOf(erasureSchema) },
    async ({ caller, query }) => {
      const rows = await listOwnErasures(deps.pool, caller.entity, query)
      return presentPage(rows, query.limit, presentErasure)
    },
  )

  api.get(
    '/v1/preview/erasures/{erasure_id}',
    { tag, role, summary: 'Read the report of an erasure', answer: erasureSchema },
    async ({ caller, params }) => presentErasure(await getErasure(deps.pool, caller.entity, params.erasure_id)),
  )
}
