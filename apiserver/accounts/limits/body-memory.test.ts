import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Router } from '@koa/router'
import Koa from 'koa'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { createLogger } from '../../../lib/log.ts'
import { createAdmission } from '../../../test/support/admission.ts'
import { RequestMemory } from './request-memory.ts'
import { presentDetail } from '../../errors/present.ts'
import { answerErrors } from '../../errors/answer-errors.ts'
import type { RequestState } from '../context.ts'
import { createIdempotencyStore } from '../../../db/idempotent-requests.ts'
import { Idempotency } from '../../../lib/http/idempotency.ts'
import { createRestApi } from '../rest-api.ts'

test('a body counts in the memory budget, with its values', async () => {
  const log = createLogger('test', 'silent')
  const router = new Router<RequestState>()
  const idempotency = new Idempotency(createIdempotencyStore({} as never), log)
  const memory = new RequestMemory(1_000)
  const api = createRestApi(router, { admission: createAdmission(memory), idempotency, memory })
  const operation = { tag: 'T', summary: 'Do it', body: Type.Array(Type.Unknown()) }
  api.post('/', operation, ({ body }) => Promise.resolve(body.length))
  const app = new Koa<RequestState>()
  app.use(answerErrors(log, presentDetail))
  app.use((ctx, next) => {
    ctx.state.caller = {
      entity: 'team',
      keyId: 'k',
      role: 'admin',
      weight: 1,
      tokensPerMinute: Infinity,
      queuedJobs: Infinity,
      traceProject: null,
    }
    return next()
  })
  app.use(router.routes())
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const headers = { 'content-type': 'application/json' }
    const post = async (body: string) => (await fetch(url, { method: 'POST', headers, body })).status
    expect(await post('[{},{},{}]')).toBe(200)
    expect(await post('[{},{},{},{},{},{},{},{},{},{}]')).toBe(413)
    expect(await post(`["${'a'.repeat(1_000)}"]`)).toBe(413)
  } finally {
    server.close()
  }
})
