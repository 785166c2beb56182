import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterAll, describe, expect, test } from 'vitest'
import { HttpError } from '../../lib/http/http-error.ts'
import { readJson } from './body.ts'
import {
  checkpointBody,
  claimBody,
  compileSchema,
  eventsBody,
  failureBody,
  logBody,
  requireAttemptPath,
} from './schema.ts'

const parseCheckpoint = compileSchema(checkpointBody)
const parseClaim = compileSchema(claimBody)
const parseEvents = compileSchema(eventsBody)
const parseFailure = compileSchema(failureBody)
const parseLog = compileSchema(logBody)

const uuid = '7d0c1de0-6f4b-4f0a-9d0b-3a4f9cf0c7e1'
const started = { seq: 0, type: 'training_started', data: { num_sequences: 3, num_groups_trainable: 2 } }
const step = { seq: 1, type: 'gradient_step', data: { loss: 0.5, 'loss/entropy': 1e-9 } }
const claim = { base_model: 'trainyard/tiny-chat', process_id: uuid, wait_seconds: 25, gpus: 0, holding: [] }
const checkpoint = { uri: `artifact:///checkpoints/${uuid}`, digest: 'ab'.repeat(32), metrics: { reward: 0.5 } }
const line = { seq: 0, time: '2026-01-01T12:00:00.123456+00:00', level: 'info', text: 'job claimed' }
const warning = { code: 'too_long', message: 'x'.repeat(10_000) }
const failure = { category: 'User', reason: 'BadInput', message: 'line 3 is no JSON', retryable: false }

describe('valid reports of trainers are accepted', () => {
  test.each<[string, (value: unknown) => unknown, unknown]>([
    ['a claim', parseClaim, claim],
    ['a claim of a later version, with an additional field', parseClaim, { ...claim, gpu: 'H200' }],
    ['a claim of a trainer with GPUs', parseClaim, { ...claim, gpus: 8 }],
    ['a log', parseLog, { lines: [line, { ...line, seq: 1, time: '2026-01-01T00:00:00Z', text: '' }] }],
    ['events', parseEvents, { events: [started, step] }],
    ['a job without anything to train on', parseEvents, { events: [{ ...started, data: { num_sequences: 0 } }] }],
    ['a start with warnings', parseEvents, { events: [{ ...started, warnings: [warning] }] }],
    ['a checkpoint', parseCheckpoint, checkpoint],
    ['a checkpoint with warnings', parseCheckpoint, { ...checkpoint, warnings: [warning] }],
    ['a checkpoint without metrics', parseCheckpoint, { ...checkpoint, metrics: {} }],
    ['a failure', parseFailure, failure],
  ])('%s', (_name, parse, value) => {
    expect(parse(structuredClone(value))).toEqual(value)
  })
})

describe('invalid reports are rejected with 422 and the location', () => {
  test.each<[string, (value: unknown) => unknown, unknown, string]>([
    ['a value that is not an object', parseClaim, [], 'the body must be object'],
    ['a missing field', parseClaim, { base_model: 'a', wait_seconds: 1 }, 'process_id'],
    ['a uuid with a prefix', parseClaim, { ...claim, process_id: `urn:uuid:${uuid}` }, 'process_id must match'],
    ['a longer wait', parseClaim, { ...claim, wait_seconds: 26 }, 'wait_seconds must be <= 25'],
    ['a part of a GPU', parseClaim, { ...claim, gpus: 0.5 }, 'gpus must be integer'],
    ['an invalid number of GPUs', parseClaim, { ...claim, gpus: 1e12 }, 'gpus must be <='],
    ['a log without lines', parseLog, { lines: [] }, 'lines must NOT have fewer than 1'],
    ['a line without a time', parseLog, { lines: [{ ...line, time: 'now' }] }, 'lines.0.time must match format'],
    ['an invalid month', parseLog, { lines: [{ ...line, time: '2026-13-01T00:00:00Z' }] }, 'lines.0.time must match'],
    [
      'an invalid year',
      parseLog,
      { lines: [{ ...line, time: '9999-12-31T23:59:59-23:00' }] },
      'lines.0.time must match',
    ],
    [
      'a line with a number that is too large',
      parseLog,
      { lines: [{ ...line, seq: 2_000_000_000 }] },
      'lines.0.seq must be <=',
    ],
    ['an unknown level', parseLog, { lines: [{ ...line, level: 'debug' }] }, 'lines.0.level must be equal'],
    ['no events', parseEvents, { events: [] }, 'events must NOT have fewer than 1'],
    [
      'another type',
      parseEvents,
      { events: [{ ...step, type: 'training_ended' }] },
      'events.0 value of tag "type" must be in oneOf',
    ],
    ['a step with number 0', parseEvents, { events: [{ ...step, seq: 0 }] }, 'events.0.seq must be >= 1'],
    ['a start with another number', parseEvents, { events: [{ ...started, seq: 1 }] }, 'events.0.seq must be equal'],
    ['a start without its length', parseEvents, { events: [{ ...started, data: {} }] }, 'events.0.data must have'],
    ['a text in a step', parseEvents, { events: [step, { ...step, data: { loss: 'x' } }] }, 'events.1.data.loss must'],
    ['a null in a step', parseEvents, { events: [{ ...step, data: { loss: null } }] }, 'events.0.data.loss must'],
    ['an infinite number', parseEvents, { events: [{ ...step, data: { loss: Infinity } }] }, 'events.0.data.loss must'],
    ['a NUL in a key', parseEvents, { events: [{ ...step, data: { 'a\0': 1 } }] }, 'events.0.data must NOT'],
    ['a seq that is too large', parseEvents, { events: [{ ...step, seq: 2 ** 31 }] }, 'events.0.seq must be <='],
    ['a checkpoint at another address', parseCheckpoint, { ...checkpoint, uri: 'file:///etc' }, 'uri must match'],
    [
      'a reason that is invalid in Kubernetes',
      parseFailure,
      { ...failure, reason: 'out of memory' },
      'reason must match',
    ],
    [
      'an invalid code',
      parseEvents,
      { events: [{ ...started, warnings: [{ ...warning, code: 'Too long' }] }] },
      'events.0.warnings.0.code must match',
    ],
    [
      'too many warnings',
      parseCheckpoint,
      { ...checkpoint, warnings: Array.from({ length: 21 }, () => warning) },
      'warnings must NOT have more than 20',
    ],
    ['an unknown category', parseFailure, { ...failure, category: 'Nobody' }, 'category must be equal'],
  ])('%s', (_name, parse, value, sentence) => {
    expect(() => parse(value)).toThrow(
      expect.objectContaining({ status: 422, message: expect.stringContaining(sentence) }) as Error,
    )
  })
})

test.each([
  { id: 'x', attempt: '1' },
  { id: uuid, attempt: '0' },
  { id: uuid, attempt: '01' },
  { id: uuid, attempt: '99999999999' },
  { id: `${uuid}'`, attempt: '1' },
])('the path %j does not name a job', (params) => {
  expect(() => requireAttemptPath(params)).toThrow(expect.objectContaining({ status: 404 }) as Error)
})

describe('bodies', () => {
  const app = new Koa()
  app.use(async (ctx) => {
    try {
      ctx.body = { read: (await readJson(ctx)).value }
    } catch (error) {
      ctx.status = error instanceof HttpError ? error.status : 500
    }
  })
  const server = app.listen(0, '127.0.0.1')
  afterAll(() => void server.close())

  const send = async (body: string | Buffer) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(Buffer.from(body)) })
    return response.ok ? await response.json() : response.status
  }

  test('an empty body counts as an empty object', async () => {
    expect(await send('')).toEqual({ read: {} })
  })

  test('characters that Postgres cannot store are replaced', async () => {
    expect(await send('{"message":"a\\u0000b\\ud800c"}')).toEqual({ read: { message: 'a\uFFFDb\uFFFDc' } })
  })

  test.each([['{'], ['{"a":NaN}'], [Buffer.from([0xff, 0xfe])], ['['.repeat(500_000)]])(
    'a body that is not JSON is rejected with 422',
    async (bytes) => {
      expect(await send(bytes)).toBe(422)
    },
  )

  test('more than 1 MiB is rejected', async () => {
    expect(await send(Buffer.alloc(1024 * 1024 + 1, ' '))).toBe(413)
  })
})
