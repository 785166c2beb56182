import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RestApi } from '../rest-api.ts'
import { readSecret, type AuthDeps } from './authenticate.ts'
import { countedListOf, countedPageQuery, presentPage, withTotal } from '../../../lib/http/page.ts'
import { checkTraceProject } from '../trace-project.ts'
import { presentKey } from './present.ts'
import { keyCreateSchema, keyRotateSchema, keySchema, keyTraceProjectSchema, newKeySchema } from './schema.ts'
import { seal, unseal } from './sealed.ts'
import {
  createKey,
  getKey,
  listKeys,
  readExpiry,
  revokeKey,
  rotateKey,
  setKeyTraceProject,
  defaultOverlapSeconds,
  type MadeKey,
} from './service.ts'

const defaults = { tag: 'Keys', role: 'admin' } as const
const creation = { ...defaults, idempotent: 'handler', idParameter: 'key_id', answer: newKeySchema } as const

interface KeyDeps extends Pick<AuthDeps, 'findPublicBase'> {
  pool: Pool
}

export function routeKeys(api: RestApi, deps: KeyDeps): void {
  const { pool } = deps
  api.post(
    '/v1/preview/keys',
    { ...creation, summary: 'Create a key', body: keyCreateSchema, bodyOptional: true },
    async ({ ctx, caller, body, newId, answerOnce }) => {
      const expiresAt = readExpiry(body?.expires_at, body?.expires_in_seconds)
      const [role, name, traceProject] = [body?.role ?? 'member', body?.name ?? undefined, body?.trace_project]
      checkTraceProject(traceProject)
      const { entity, keyId: by } = caller
      const wanted = { entity, role, name, expiresAt, traceProject, by }
      const make = async () => sealKey(readSecret(deps, ctx)!, await createKey(pool, { id: newId(), ...wanted }))
      return unsealKey(readSecret(deps, ctx)!, await answerOnce(make))
    },
  )

  api.get(
    '/v1/preview/keys',
    {
      ...defaults,
      summary: "List the entity's keys, oldest first",
      query: countedPageQuery,
      answer: countedListOf(keySchema),
    },
    async ({ caller, query }) => {
      const { rows, total } = await listKeys(pool, caller.entity, query)
      return withTotal(presentPage(rows, query.limit, presentKey), total)
    },
  )

  api.get(
    '/v1/preview/keys/{key_id}',
    { ...defaults, summary: 'Get a key', answer: keySchema },
    async ({ caller, params }) => presentKey(await getKey(pool, caller.entity, params.key_id)),
  )

  api.delete(
    '/v1/preview/keys/{key_id}',
    { ...defaults, summary: 'Revoke a key immediately and permanently', answer: keySchema, errorStatuses: [409] },
    async ({ caller, params }) =>
      presentKey(
        await revokeKey(pool, { entity: caller.entity, id: params.key_id, keepAdmin: true, by: caller.keyId }),
      ),
  )

  api.put(
    '/v1/preview/keys/{key_id}/trace-project',
    {
      ...defaults,
      summary: 'Set which project records the chats of a key',
      description: 'Applies to chats that begin after the answer. null means the setting of the entity.',
      body: keyTraceProjectSchema,
      answer: keySchema,
    },
    async ({ caller, params, body: { trace_project: traceProject } }) => {
      const key = { entity: caller.entity, id: params.key_id, by: caller.keyId }
      checkTraceProject(traceProject)
      return presentKey(await setKeyTraceProject(pool, key, traceProject))
    },
  )

  api.post(
    '/v1/preview/keys/{key_id}/rotate',
    { ...creation, summary: 'Rotate a key', body: keyRotateSchema, bodyOptional: true },
    async ({ ctx, caller, params, body, newId, answerOnce }) => {
      const overlapSeconds = body?.overlap_seconds ?? defaultOverlapSeconds
      const { entity, keyId: by } = caller
      const replaced = { entity, id: params.key_id, overlapSeconds, by }
      const rotate = async () => sealKey(readSecret(deps, ctx)!, await rotateKey(pool, replaced, newId()))
      return unsealKey(readSecret(deps, ctx)!, await answerOnce(rotate))
    },
  )
}

function sealKey(secret: string, { row, key }: MadeKey) {
  return { ...presentKey(row), key: seal(key, secret) }
}

/** @throws {HttpError} 409 if a repeated request uses another key than the first one */
function unsealKey(secret: string, sealed: ReturnType<typeof sealKey>) {
  const key = unseal(sealed.key, secret)
  if (key !== undefined) return { ...sealed, key }
  throw new HttpError(
    errors.conflict,
    'The key that this request created was shown once, to the client that created it.',
  )
}
