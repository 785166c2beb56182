import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import type { KubeObject } from './apply.ts'
import { KubeClient } from './client.ts'
import { recordEvents } from './events.ts'
import { eventPath } from './paths.ts'

const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'test', uid: 'uid' } }

test('an event is recorded once, also after a restart, and another message is another event', async () => {
  const { server, record, list } = await open()
  for (const message of ['first', 'first', 'second']) await record(about, message)
  expect((await list()).map(({ note }) => note).toSorted()).toEqual(['first', 'second'])
  expect(server.requests.filter((request) => request.startsWith('POST'))).toHaveLength(3)
})

test('a rejected event is left out, and the next ones are recorded', async () => {
  const { server, record, list } = await open()
  server.failures.push(403)
  await record(about, 'first', 'second')
  expect((await list()).map(({ note }) => note)).toEqual(['second'])
})

test('the name of an event is valid, even if that of its object is cut at a hyphen', async () => {
  const { record, list } = await open()
  await record({ ...about, metadata: { ...about.metadata, name: `${'x'.repeat(199)}-${'y'.repeat(20)}` } }, 'first')
  expect((await list())[0]?.metadata.name).toMatch(/^x{199}\.[0-9a-f]{16}$/)
})

async function open() {
  const server = new FakeApiServer()
  const client = new KubeClient(await server.start(), { userAgent: 'test', timeoutMs: 5_000 })
  onTestFinished(async () => {
    client.close()
    await server.stop()
  })
  type Event = { metadata: { name: string }; note: string }
  const record = (object: KubeObject, ...messages: string[]) =>
    recordEvents(
      { client, log: pino({ level: 'silent' }) },
      object,
      messages.map((message) => ({ type: 'Normal', reason: 'Started', message })),
    )
  const list = async () => (await client.request<{ items: Event[] }>({ path: eventPath('test') })).items
  return { server, record, list }
}
