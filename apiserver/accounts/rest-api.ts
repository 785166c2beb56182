import type { Router } from '@koa/router'
import type { TSchema } from 'typebox'
import { Api, type Dialect } from '../../lib/http/api.ts'
import type { Idempotency } from '../../lib/http/idempotency.ts'
import type { ApiRequest, Method, Operation } from '../../lib/http/operation.ts'
import { compileBody } from '../../lib/http/validation/compile.ts'
import type { RequestContext, RequestState, Role } from './context.ts'
import { requireRole } from './keys/require-key.ts'
import type { Admission, CostOption } from './limits/admission.ts'
import { openAnswers } from './limits/answer-memory.ts'
import type { RequestMemory } from './limits/request-memory.ts'

// Enough for names, settings and short lists. Larger operations set their own limit.
const defaultBodyLimitBytes = 64 * 1024

/** The options of operations in all groups that require keys. */
export interface OperationOptions extends CostOption {
  /** The lowest role that may call it. Default: `read` for GET, and `member` for everything that changes something. */
  role?: Role
}

/** What all groups of operations need. */
export interface ApiDeps {
  admission: Admission
  memory: RequestMemory
}

/** The operations of the REST interface. */
export type RestApi = Api<RequestState, OperationOptions>
/** A checked request of the REST interface. */
export type RestRequest<Params> = ApiRequest<RequestState, Params, unknown, unknown>

/** @throws {HttpError} 403 if the caller's role is lower than the operation needs */
export function authorizeRole({ caller }: RequestState, { role }: OperationOptions, method: Method): void {
  requireRole(caller, role ?? (method === 'get' ? 'read' : 'member'))
}

/**
 * Creates the REST interface's operations: closed queries, whole JSON bodies within the entity's memory, and
 * idempotency keys.
 */
export function createRestApi(
  router: Router<RequestState>,
  { admission, memory, idempotency }: ApiDeps & { idempotency: Idempotency },
): RestApi {
  const dialect: Dialect<RequestState, OperationOptions> = {
    authorize: authorizeRole,
    compileBody: (schema, operation) => compileJsonBody(memory, schema, operation),
    admit: admission.admit,
    openAnswer: openAnswers(memory),
    closedQueries: true,
    idempotency: { service: idempotency, ownerOf: ({ caller }) => caller.entity },
  }
  return new Api(router, dialect)
}

function compileJsonBody(memory: RequestMemory, schema: TSchema, { bodyLimitBytes }: Operation) {
  const parse = compileBody(schema)
  return async (ctx: RequestContext) => {
    const document = await memory.readJson(ctx, bodyLimitBytes ?? defaultBodyLimitBytes)
    return { value: parse(document), bytes: document.bytes }
  }
}
