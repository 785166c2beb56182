import { expect, test } from 'vitest'
import { parseRequest } from './parse-large.ts'

const modelId = '0d9a3f0e-8f64-4f0a-9d0e-4a3c1c1f5b11'
const largeText = 'x'.repeat(3 * 1024 * 1024)

const body = (groups: string, text: string) =>
  Buffer.from(
    `{"model_id":"${modelId}","note":"${text}","trajectory_groups": ${groups},"experimental_config":{"ppo":true}}`,
  )

test.each([
  ['small', ''],
  ['large', largeText],
])('a %s body gives the same request, its payload byte by byte', async (_, text) => {
  const { payload, ...rest } = await parseRequest(
    body('[ {"trajectories":[],"metadata":{"seed":12345678901234567890}}]', text),
  )
  expect(rest).toEqual({ modelId, config: { ppo: true } })
  expect(Buffer.from(payload).toString()).toBe(
    '{"trajectory_groups": [ {"trajectories":[],"metadata":{"seed":12345678901234567890}}]}',
  )
})

test('the faults of a large body are told', async () => {
  await expect(parseRequest(body('[1]', largeText))).rejects.toMatchObject({
    status: 422,
    detail: [{ loc: ['body', 'trajectory_groups', '0'], type: 'dict_type' }],
  })
})

test('many large bodies at once all get their answer', async () => {
  const requests = await Promise.all([1, 2, 3, 4].map(() => parseRequest(body('[]', largeText))))
  expect(requests.map((request) => request.modelId)).toEqual([modelId, modelId, modelId, modelId])
})
