import type { Deps } from '../deps.ts'
import type { Api } from '../http/api.ts'
import { presentLimits } from './present.ts'
import { limitsSchema } from './schema.ts'
import { readLimits } from './service.ts'

/** Limits are set by whoever runs the service, not by the entities: see `npm run limits`. */
export function routeLimits(api: Api, deps: Deps): void {
  api.get(
    '/v1/preview/limits',
    { tag: 'Usage', summary: 'Read what the entity may use, and what it uses now', answer: limitsSchema },
    async ({ caller }) => presentLimits(await readLimits(deps, caller.entity)),
  )
}
