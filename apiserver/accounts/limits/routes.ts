import { saveEntitySetting, type SetLimits } from '../../../db/accounts/limits.ts'
import { setPaused } from '../../../db/accounts/pauses.ts'
import { withInvalidation } from '../../../db/changes.ts'
import type { Caller } from '../context.ts'
import type { RestApi } from '../rest-api.ts'
import { presentLimits } from './present.ts'
import { checkTraceProject } from '../trace-project.ts'
import { limitsSchema, pausedBodySchema, tokenStatisticsBodySchema, traceProjectBodySchema } from './schema.ts'
import { readLimits, type LimitDeps } from './service.ts'

/**
 * Limits are set by the administrator with `npm run limits`, not by entities. Entities themselves set what is recorded
 * of their tokens and chats, and pause their own jobs.
 */
export function routeLimits(api: RestApi, deps: LimitDeps): void {
  const show = async ({ entity }: Caller) => presentLimits(await readLimits(deps, entity))
  const save = async <Name extends 'tokenStatistics' | 'traceProject'>(
    caller: Caller,
    setting: [Name, SetLimits[Name]],
  ) => {
    const { entity, keyId: by } = caller
    await withInvalidation(deps.pool, (connection) => saveEntitySetting(connection, { entity, by }, setting))
    return show(caller)
  }

  api.get(
    '/v1/preview/limits',
    { tag: 'Usage', summary: 'Get the limits of the entity and its current use', answer: limitsSchema },
    ({ caller }) => show(caller),
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
    ({ caller, body }) => save(caller, ['tokenStatistics', body.token_statistics]),
  )

  api.put(
    '/v1/preview/limits/paused',
    {
      tag: 'Usage',
      summary: 'Pause or resume the training jobs of the entity that wait',
      description:
        'While they are paused, no job begins, and running jobs go on. New jobs are accepted, and wait. A pause by the ' +
        'administrator is another one, which only the administrator ends.',
      role: 'admin',
      body: pausedBodySchema,
      answer: limitsSchema,
    },
    async ({ caller, body }) => {
      const { entity, keyId: actor } = caller
      await setPaused(deps.pool, { entity, byAdministrator: false, actor }, body.paused)
      return show(caller)
    },
  )

  api.put(
    '/v1/preview/limits/trace-project',
    {
      tag: 'Usage',
      summary: 'Set which project records the chats of the entity',
      description: 'Applies to chats that begin after the answer, and to keys without their own setting.',
      role: 'admin',
      body: traceProjectBodySchema,
      answer: limitsSchema,
    },
    async ({ caller, body }) => {
      checkTraceProject(body.trace_project)
      return save(caller, ['traceProject', body.trace_project])
    },
  )
}
