import { Type } from 'typebox'
import type { RestApi } from '../../accounts/rest-api.ts'
import { trainedMembers } from '../completion-schemas.ts'
import { passRequests, type GatewayDeps } from '../gateway.ts'
import type { Passthrough } from '../passthrough.ts'
import { checkCompletion } from './check.ts'
import { completionRequestSchema } from './schema.ts'

/** Completions of texts and of token ids, without a chat's template. */
const passthrough: Passthrough = {
  enginePath: '/v1/completions',
  tracedAs: 'openai.completions.create',
  check: checkCompletion,
}

const completionSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(Type.Object({ index: Type.Integer(), text: Type.String(), ...trainedMembers })),
})

export function routeCompletions(api: RestApi, deps: GatewayDeps): void {
  api.post(
    '/v1/completions',
    {
      tag: 'Inference',
      summary: 'Complete a text',
      role: 'read',
      streamedBody: { 'application/json': completionRequestSchema },
      answer: completionSchema,
      otherAnswers: { 'text/event-stream': Type.String() },
      errorStatuses: [400],
      cost: { permit: 'concurrent_streams' },
    },
    passRequests(deps, passthrough),
  )
}
