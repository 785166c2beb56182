import type { FindPublicBase } from '../../../lib/http/public-base.ts'
import type { Links } from '../links/links.ts'
import type { WandbApi } from '../wandb-api.ts'
import { answerGraphql } from './answer.ts'
import type { GraphqlResource } from './resource.ts'
import { createRoots } from './roots.ts'
import { graphqlAnswer, graphqlBody } from './schema.ts'

export interface GraphqlDeps {
  links: Links
  findPublicBase: FindPublicBase
}

// One request may name 10,000 files, or have the config of a run with as many keys.
const bodyLimitBytes = 16 * 1024 * 1024

/** GraphQL for the SDKs of wandb and weave. The second path is for clients whose base URL ends with /traces. */
export function routeGraphql(api: WandbApi, deps: GraphqlDeps, resources: readonly GraphqlResource[]): void {
  const roots = createRoots(resources)
  for (const path of ['/graphql', '/traces/graphql'] as const) {
    api.post(
      path,
      {
        tag: 'W&B',
        summary: 'Answer a GraphQL request of the wandb or weave SDK',
        description:
          'There is no schema to validate against: an unknown field is null, and an unknown mutation is an error. ' +
          'Errors about the values of a request are in `errors`, with status 200.',
        role: 'read',
        body: graphqlBody,
        answer: graphqlAnswer,
        bodyLimitBytes,
      },
      async ({ ctx, caller, body }) => {
        const signLink = await deps.links.openSigner(deps.findPublicBase(ctx.req), ctx.state.keyDigest)
        return answerGraphql(roots, body, { ctx, caller, limits: ctx.state.limits, signLink })
      },
    )
  }
}
