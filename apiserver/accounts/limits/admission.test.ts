import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Router } from '@koa/router'
import Koa from 'koa'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Api } from '../../../lib/http/api.ts'
import { runInTurn } from '../../../lib/request-scope.ts'
import { createAdmission } from '../../../test/support/admission.ts'
import { answerErrors } from '../../errors/answer-errors.ts'
import { presentDetail } from '../../errors/present.ts'
import { createLogger } from '../../../lib/log.ts'
import { turnOf, type RequestState } from '../context.ts'
import type { Admission, CostOption } from './admission.ts'
import { RequestMemory } from './request-memory.ts'
import type { PermitName } from './table.ts'

const mib = 1024 * 1024

describe('a permit', () => {
  const [most, share] = [6, 2]
  let admission: Admission
  beforeEach(() => {
    vi.useFakeTimers()
    admission = createAdmission()
  })
  afterEach(() => vi.useRealTimers())

  const acquire = (key: string, name: PermitName = 'trace_streams') => admission.acquire(name, { key, weight: 1 })
  /** Acquires a permit without waiting. Undefined when none is free. */
  async function acquireNow(key: string): Promise<(() => void) | undefined> {
    let release: (() => void) | undefined
    acquire(key).then(
      (acquired) => (release = acquired),
      () => {},
    )
    await vi.advanceTimersByTimeAsync(0)
    return release
  }

  test('is of the share of its entity', async () => {
    const releases = [await acquireNow('team'), await acquireNow('team'), await acquireNow('team')]
    expect(releases.map((release) => release !== undefined)).toEqual([true, true, false])
    expect(await acquireNow('others')).toBeDefined()
  })

  test('of streams leaves some connections to Postgres free', async () => {
    const acquired: boolean[] = []
    for (let index = 0; index <= most; index++) acquired.push((await acquireNow(`team-${index}`)) !== undefined)
    expect(acquired).toEqual([...Array.from({ length: most }, () => true), false])
  })

  test('that is released twice counts once, and goes to the next who waits', async () => {
    const [first, second] = [await acquireNow('team'), await acquireNow('team')]
    const order: string[] = []
    const waiting = ['one', 'two'].map((name) => acquire('team').then(() => order.push(name)))
    first!()
    first!()
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual(['one'])
    second!()
    await Promise.all(waiting)
    expect(order).toEqual(['one', 'two'])
  })

  test.each<[PermitName, number, number, string, string]>([
    ['trace_streams', share, 429, '1', 'Too many streams of traces: the limit trace_streams is reached.'],
    ['annotation_checks', 60, 429, '10', 'the limit annotation_checks is reached.'],
    ['waiting_key_lookups', 2_000, 503, '1', 'the limit waiting_key_lookups is reached.'],
    ['base_model_creations', 1, 503, '10', 'the limit base_model_creations is reached.'],
  ])(
    'of %s that is not free in time is an error that names the limit',
    async (name, permits, status, seconds, words) => {
      for (let held = 0; held < permits; held++) await acquire('team', name)
      const rejected = expect(acquire('team', name)).rejects.toMatchObject({
        status,
        headers: { 'Retry-After': seconds },
        message: expect.stringContaining(words) as string,
      })
      await vi.advanceTimersByTimeAsync(60_000)
      await rejected
      await acquire('others', name)
    },
  )
})

describe('an operation', () => {
  const limits = { concurrentStreams: 1 } as RequestState['limits']
  const opened: { close: () => void }[] = []
  afterEach(() => opened.splice(0).forEach((server) => server.close()))

  /** Serves an operation with this cost, and returns the statuses of its answers. */
  async function serve(cost: CostOption['cost'], handle: () => Promise<Readable | void>, memoryBytes = 320 * mib) {
    const router = new Router<RequestState>()
    const { admit } = createAdmission(new RequestMemory(memoryBytes))
    const api = new Api<RequestState, CostOption>(router, {
      admit,
      authorize: () => {},
      compileBody: () => () => Promise.reject(new Error('no body')),
      openAnswer: undefined,
      closedQueries: false,
    })
    const operation = {
      tag: 'T',
      summary: 'Do it',
      ...(cost && { cost }),
      otherAnswers: { 'text/plain': Type.String() },
    }
    api.post('/', operation, async ({ ctx }) => {
      ctx.body = (await handle()) ?? 'done'
    })
    const app = new Koa<RequestState>()
    app.on('error', () => {})
    app.use(answerErrors(createLogger('test', 'silent'), presentDetail))
    app.use((ctx, next) => {
      ctx.state.caller = { entity: 'team', weight: 1 } as RequestState['caller']
      ctx.state.limits = limits
      return runInTurn(turnOf(ctx.state.caller), next)
    })
    app.use(router.routes())
    const server = app.listen(0, '127.0.0.1')
    opened.push(server)
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    return (body?: Uint8Array<ArrayBuffer>) => fetch(url, { method: 'POST', ...(body && { body }) })
  }

  test('holds its permit until its handler has ended, and says which limit of the entity is reached', async () => {
    const work = Promise.withResolvers<void>()
    const ask = await serve({ permit: 'concurrent_streams' }, () => work.promise)
    const first = ask()
    await vi.waitFor(async () => {
      const second = await ask()
      expect([second.status, await second.json()]).toEqual([
        429,
        {
          detail:
            'team has 1 concurrent chats, and its limit concurrent_streams is 1. Send this request again when one has ended, or ask for a higher limit.',
        },
      ])
    })
    work.resolve()
    expect((await first).status).toBe(200)
    expect((await ask()).status).toBe(200)
  })

  test('that streams holds its permit until the stream has ended its work, not only until its client has left', async () => {
    const work = Promise.withResolvers<void>()
    async function* chunks() {
      try {
        yield 'x'
        await new Promise(() => {})
      } finally {
        await work.promise
      }
    }
    const ask = await serve({ permit: 'concurrent_streams' }, async () => Readable.from(chunks()))
    const first = await ask()
    const reader = first.body!.getReader()
    await reader.read()
    await reader.cancel()
    expect((await ask()).status).toBe(429)
    work.resolve()
  })

  test('is not begun without the memory that it costs', async () => {
    const handle = vi.fn(async () => {})
    const ask = await serve({ permit: 'trace_streams', memoryBytes: 8 * mib }, handle, 8 * mib)
    expect((await ask()).status).toBe(413)
    expect(handle).not.toHaveBeenCalled()
  })

  test.each([
    ['a small body needs no permit', 4 * mib, 17, 0],
    ['large bodies have a share of the permits until they have arrived', 4 * mib + 1, 16, 1],
  ])('of uploads: %s', async (_, bytes, running, waiting) => {
    const work = Promise.withResolvers<void>()
    let begun = 0
    const ask = await serve({ permit: 'uploads' }, () => {
      begun++
      return work.promise
    })
    const asked = Array.from({ length: 17 }, () => ask(new Uint8Array(bytes)))
    await vi.waitFor(() => expect(begun).toBe(running), 10_000)
    expect(17 - begun).toBe(waiting)
    work.resolve()
    for (const each of asked) expect((await each).status).toBe(200)
  })
})
