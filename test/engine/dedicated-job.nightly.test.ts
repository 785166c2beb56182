import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const steps = 300

interface Job {
  state: string
  attempt: number
  progress: { step: number }
}

test('a job trains in a pod of its own, is suspended, and continues after its last save', async () => {
  const model = await rest.createModel()
  const messages = [
    { role: 'user', content: 'Name a colour.' },
    { role: 'assistant', content: 'Teal.' },
  ]
  const rows = Array.from({ length: steps * 2 }, () => `${JSON.stringify({ messages })}\n`).join('')
  const { address } = await rest.upload<{ address: string }>(
    `/v1/preview/artifacts/${model.entity}/tests/dedicated-${randomUUID()}`,
    rows,
  )
  const body = { model_id: model.id, training_data_url: address, mode: 'Dedicated', config: { batch_size: 2 } }
  const { id } = await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', body)
  const path = `/v1/preview/training-jobs/${id}`
  const read = () => rest.call<Job>('GET', path)
  const listOwn = async () =>
    (await stack.kubectl('get', 'jobs.batch,pods', '-n', 'trainyard', '-l', `trainyard.dev/job=${id}`, '-o', 'name'))
      .split('\n')
      .filter((line) => line !== '')
  await eventually(async () => expect((await read()).progress.step).toBeGreaterThan(0), 600_000)
  expect(await listOwn()).toHaveLength(2)

  await rest.call('POST', `${path}/suspend`)
  await eventually(async () => expect((await read()).state).toBe('Suspended'), 600_000)
  expect(await listOwn()).toEqual([])
  const saved = (await read()).progress.step
  expect(saved).toBeLessThan(steps)
  await rest.call('POST', `${path}/resume`)

  const events = await rest.waitForEnd(id, 600_000)
  const numbers = events.flatMap((event) => (event.type === 'gradient_step' ? [event] : []))
  expect([events[0]?.type, numbers.length, events.at(-1)?.type]).toEqual(['training_started', steps, 'training_ended'])
  expect(await read()).toMatchObject({ state: 'Succeeded', attempt: 2 })
  const name = await stack.kubectl('get', 'tj', '-n', 'trainyard', '-l', `trainyard.dev/id=${id}`, '-o', 'name')
  await stack.kubectl('wait', name.trim(), '-n', 'trainyard', '--for=condition=Complete', '--timeout=60s')
  expect(await listOwn()).toEqual([])
})
