import { saveTokenStatistics } from '../../../db/accounts/limits.ts'
import type { RestApi } from '../rest-api.ts'
import { presentLimits } from './present.ts'
import { limitsSchema, tokenStatisticsBodySchema } from './schema.ts'
import { readLimits, type LimitDeps } from './service.ts'

/**
 * The administrator sets limits, not the entities: see `npm run limits`. What is kept of their own tokens
 * they set themselves.
 */
export function routeLimits(api: RestApi, deps: LimitDeps): void {
  api.get(
    '/v1/preview/limits',
    { tag: 'Usage', summary: 'Get the limits of the entity and its current use', answer: limitsSchema },
    async ({ caller }) => presentLimits(await readLimits(deps, caller.entity)),
  )

  api.put(
    '/v1/preview/limits/token-statistics',
    {
      tag: 'Usage',
      summary: 'Set which token statistics are stored',
      description: 'Applies to jobs that a trainer starts from now on. null means `sampled`.',
      role: 'admin',
      body: tokenStatisticsBodySchema,
      answer: limitsSchema,
    },
    async ({ caller, body }) => {
      await saveTokenStatistics(deps.pool, { entity: caller.entity, by: caller.keyId }, body.token_statistics)
      return presentLimits(await readLimits(deps, caller.entity))
    },
  )
}
