import { expect, test } from 'vitest'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import { KubeClient } from './client.ts'
import { recordEvent } from './events.ts'
import { eventPath } from './paths.ts'

const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'test', uid: 'uid' } }

test('an event is recorded once, also after a restart, and another message is another event', async () => {
  const server = new FakeApiServer()
  const client = new KubeClient(await server.start(), { userAgent: 'test', timeoutMs: 5_000 })
  for (const message of ['first', 'first', 'second']) {
    await recordEvent(client, about, { type: 'Normal', reason: 'Started', message })
  }
  const { items } = await client.request<{ items: { message: string }[] }>({ path: eventPath('test') })
  expect(items.map(({ message }) => message).toSorted()).toEqual(['first', 'second'])
  client.close()
  await server.stop()
})
