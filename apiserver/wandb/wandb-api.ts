import type { Router } from '@koa/router'
import type { TSchema } from 'typebox'
import { Api } from '../../lib/http/api.ts'
import type { Operation } from '../../lib/http/operation.ts'
import { rejectManyValues } from '../../lib/json/read-json.ts'
import { compileBody } from '../../lib/http/validation/compile.ts'
import type { RequestContext, RequestState } from '../accounts/context.ts'
import { authorizeRole, type ApiDeps, type OperationOptions } from '../accounts/rest-api.ts'
import { openAnswers } from '../accounts/limits/answer-memory.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'

const defaultBodyLimitBytes = 64 * 1024

/** What the middleware knows about a request of the wandb SDK. */
export interface WandbState extends RequestState {
  /** The SHA-256 of the key in base64url. Links carry it, so that they end with their key. */
  keyDigest: string
}

/** Operations of the wandb SDK. Their bodies are JSON, unless the handler reads them itself. */
export type WandbApi = Api<WandbState, OperationOptions>

export function createWandbApi(router: Router<WandbState>, { admission, memory }: ApiDeps): WandbApi {
  return new Api<WandbState, OperationOptions>(router, {
    authorize: authorizeRole,
    compileBody: (schema, operation) => compileJsonBody(memory, schema, operation),
    admit: admission.admit,
    openAnswer: openAnswers(memory),
    closedQueries: false,
  })
}

function compileJsonBody(memory: RequestMemory, schema: TSchema, { bodyLimitBytes }: Operation) {
  const parse = compileBody(schema)
  return async (ctx: RequestContext) => {
    const document = await memory.readJson(ctx, bodyLimitBytes ?? defaultBodyLimitBytes, rejectManyValues)
    return { value: parse(document), bytes: document.bytes }
  }
}
