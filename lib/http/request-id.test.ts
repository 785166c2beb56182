import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { findRequest } from '../request-scope.ts'
import { identifyRequests } from './request-id.ts'

test('an answer has the id of its request, and so do its log lines', async () => {
  const app = new Koa()
  app.use(identifyRequests)
  app.use((ctx) => {
    ctx.body = findRequest()
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers })
      const id = response.headers.get('x-request-id')
      expect(await response.json()).toEqual({ requestId: id })
      return id
    }
    expect(await ask({ 'x-request-id': 'team-1:job.2_b' })).toBe('team-1:job.2_b')
    expect(await ask({})).toMatch(/^[0-9a-f-]{36}$/)
    expect(await ask({ 'x-request-id': 'two words' })).toMatch(/^[0-9a-f-]{36}$/)
    expect(await ask({ 'x-request-id': 'a'.repeat(129) })).toMatch(/^[0-9a-f-]{36}$/)
  } finally {
    server.close()
  }
})
