import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createRest, sampleGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const setStatistics = (setting: string | null) =>
  rest.call('PUT', '/v1/preview/limits/token-statistics', { token_statistics: setting })

beforeAll(() => setStatistics('all'))
afterAll(() => setStatistics(null))

test('a trained job has a file with its tokens, and each trajectory was pushed in the direction of its reward', async () => {
  const model = await rest.createModel()
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', (_, index) => index % 2)
  await rest.waitForEnd(await rest.startJob(model.id, [group]))

  const path = `/v1/preview/models/${model.id}`
  const reported = await eventually(async () => {
    const { token_statistics } = await rest.call<{ token_statistics: { size: number; digest: string } | null }>(
      'GET',
      `${path}/checkpoints/1`,
    )
    return token_statistics ?? Promise.reject(new Error('no statistics yet'))
  })
  const file = Buffer.from(await (await rest.send('GET', `${path}/checkpoints/1/token-statistics`)).arrayBuffer())
  expect({ size: file.length, digest: createHash('sha256').update(file).digest('hex') }).toEqual(reported)
  expect([file.subarray(0, 4).toString(), file.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])

  const { data } = await rest.call<{ data: { reward: number; push: number }[] }>('GET', `${path}/trajectories`)
  expect(data).toHaveLength(8)
  expect(data.map(({ push }) => Math.sign(push))).toEqual(data.map(({ reward }) => (reward > 0 ? 1 : -1)))
})
