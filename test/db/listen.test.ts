import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, type Listener } from '../../db/listen.ts'
import { createLogger } from '../../lib/log.ts'
import { useTestDatabase } from '../support/database.ts'
import { openSeverableProxy, type SeverableProxy } from '../support/severable-proxy.ts'

const application = 'trainyard listens'
const database = useTestDatabase()
let proxy: SeverableProxy
let proxied: string
const log = createLogger('test', 'silent')

beforeAll(async () => {
  const url = new URL(database.databaseUrl)
  proxy = await openSeverableProxy({ host: url.hostname, port: Number(url.port) })
  url.host = `127.0.0.1:${proxy.port}`
  proxied = url.href
})
afterAll(() => proxy?.close())

function open(): { listener: Listener; connected: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { listener: listen(proxied, ['changes'], { onNotify: () => {}, onConnect: resolve }, log), connected: promise }
}

/** Whether it ends long before a query or a connection would time out. */
async function closesSoon(listener: Listener): Promise<boolean> {
  return Promise.race([listener.close().then(() => true), delay(4_000, false)])
}

describe('a listener that is closed ends soon', () => {
  test('at any moment of its connection', async () => {
    const closings = Array.from({ length: 40 }, async (_, index) => {
      const { listener } = open()
      await delay(index)
      return closesSoon(listener)
    })
    expect((await Promise.all(closings)).filter((isSoon) => !isSoon)).toEqual([])
  })

  test('while it listens', async () => {
    const { listener, connected } = open()
    await connected
    expect(await closesSoon(listener)).toBe(true)
  })

  test('while the database is silent', async () => {
    const { listener, connected } = open()
    await connected
    proxy.hang(application)
    const connecting = open().listener
    await delay(100)
    expect(await Promise.all([closesSoon(listener), closesSoon(connecting)])).toEqual([true, true])
    proxy.mend()
  })

  test('while the database refuses connections', async () => {
    proxy.cut()
    const { listener } = open()
    await delay(100)
    expect(await closesSoon(listener)).toBe(true)
    proxy.mend()
  })
})
