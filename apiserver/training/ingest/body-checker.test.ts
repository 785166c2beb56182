import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runInTurn } from '../../../lib/request-scope.ts'
import { openHeavyThreads } from '../../accounts/limits/heavy-threads.ts'
import { BodyChecker } from './body-checker.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bodies-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Writes a body of trajectories of this size. */
async function writeBody(megabytes: number): Promise<{ file: string; size: number }> {
  const messages = Array.from({ length: 100 }, () => ({ role: 'user', content: 'hello '.repeat(50) }))
  const trajectory = JSON.stringify({ messages_and_choices: messages, reward: 1 })
  const count = Math.ceil((megabytes * 1024 * 1024) / trajectory.length)
  const trajectories = Array.from({ length: count }, () => trajectory).join(',')
  const text = `{"model_id":"${randomUUID()}","trajectory_groups":[{"trajectories":[${trajectories}]}]}`
  const file = path.join(folder, randomUUID())
  await writeFile(file, text)
  return { file, size: Buffer.byteLength(text) }
}

test("an entity's large bodies only delay its own, and small bodies do not wait for large ones", async () => {
  const checker = new BodyChecker(openHeavyThreads())
  const [large, small] = [await writeBody(4.2), await writeBody(0.3)]
  const order: string[] = []
  const check = async (key: string, body: { file: string; size: number }) => {
    await runInTurn({ key, weight: 1 }, () => checker.check({ ...body, kind: 'job', model: '' }))
    order.push(key)
  }
  // Starts the threads, which takes a while.
  await Promise.all([check('one', large), check('another', large), check('one', small)])
  order.length = 0
  const flood = Array.from({ length: 5 }, () => check('flood', large))
  await Promise.all([...flood, check('team', large), check('small team', small)])
  expect(order.slice(-2)).toEqual(['flood', 'flood'])
}, 60_000)
