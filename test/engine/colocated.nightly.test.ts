import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listChildren } from '../support/child-processes.ts'
import { eventually } from '../support/eventually.ts'
import { mainPid } from '../support/kill.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const name = `colocated-${randomUUID().slice(0, 8)}`
const pods = `trainyard.dev/base-model=${name}`
const turnsSeconds = 4
const steps = 300

// A separate engine takes as long to start as the whole stack.
describe('an engine and a trainer in one container', () => {
  beforeAll(async () => {
    const env = [
      { name: 'VLLM_CPU_KVCACHE_SPACE', value: '1' },
      { name: 'TRAINYARD_TURNS_SECONDS', value: String(turnsSeconds) },
    ]
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec: {
        names: [name],
        source: { path: 'models/tiny-chat' },
        colocated: true,
        engine: { args: ['--dtype', 'float32'], env },
      },
    })
    await eventually(() => chat(1), 300_000, 1_000)
  })
  afterAll(() => stack.kubectl('delete', `basemodels.trainyard.dev/${name}`, '-n', 'trainyard'))

  const chat = (maxTokens: number, model = name) =>
    rest.call<{ usage: { completion_tokens: number } }>('POST', '/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Tell me about the sea.' }],
      max_tokens: maxTokens,
      ignore_eos: true,
    })

  async function createModel() {
    const body = { project: 'tests', name: `model-${randomUUID()}`, base_model: name }
    const model = await rest.call<{ id: string; entity: string }>('POST', '/v1/preview/models', body)
    return { ...model, address: `wandb-artifact:///${model.entity}/tests/${body.name}` }
  }

  async function startLongJob() {
    const model = await createModel()
    const messages = [
      { role: 'user', content: 'Tell me a story.' },
      { role: 'assistant', content: 'Red. '.repeat(100) },
    ]
    const path = `/v1/preview/artifacts/${model.entity}/tests/${randomUUID()}`
    const rows = `${JSON.stringify({ messages })}\n`.repeat(steps)
    const { address } = await rest.upload<{ address: string }>(path, rows)
    const { id } = await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', {
      model_id: model.id,
      training_data_url: address,
      config: { batch_size: 1, learning_rate: 1e-4 },
    })
    await eventually(async () => expect((await rest.listEvents(id)).map(({ type }) => type)).toContain('gradient_step'))
    return { id, model }
  }

  /** Sends one chat after the other until the function is called. Returns how many seconds each took. */
  function keepChatting() {
    const seconds: number[] = []
    let isOver = false
    const ended = (async () => {
      while (!isOver) {
        const began = performance.now()
        const { usage } = await chat(20)
        expect(usage.completion_tokens).toBe(20)
        seconds.push((performance.now() - began) / 1000)
      }
      return seconds
    })()
    return () => {
      isOver = true
      return ended
    }
  }

  const readTurns = async () => {
    const log = await stack.kubectl('logs', '-n', 'trainyard', '-l', pods, '--tail=-1')
    return [...log.matchAll(/The trainer had the device for (\d+\.\d+) s/g)].map(([, seconds]) => Number(seconds))
  }

  async function findTrainer(): Promise<number> {
    const children = listChildren(await mainPid(stack, pods))
    const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('trainyard_trainer'))
    expect(found).toBeDefined()
    return found!
  }

  test('take turns while chats and a job wait; all chats are answered, and the checkpoint too', async () => {
    const before = (await readTurns()).length
    const { id, model } = await startLongJob()
    const stopChatting = keepChatting()
    const events = await rest.waitForEnd(id)
    const seconds = await stopChatting()
    expect(events.at(-1)?.type).toBe('training_ended')
    const turns = (await readTurns()).slice(before)
    console.log({ turns, chats: seconds.length, slowest: Math.max(...seconds) })
    expect(turns.length).toBeGreaterThan(1)
    // Chats waited for turns, and were answered between them.
    expect(seconds.filter((each) => each > turnsSeconds / 4).length).toBeGreaterThan(1)
    expect(seconds.length).toBeGreaterThan(2 * turns.length)
    expect((await chat(5, model.address)).usage.completion_tokens).toBe(5)
  })

  test('the engine answers, and the job goes on, after kill -9 of the trainer in its turn', async () => {
    const { id } = await startLongJob()
    process.kill(await findTrainer(), 'SIGKILL')
    await chat(20)
    const events = await rest.waitForEnd(id)
    expect(events.at(-1)?.type).toBe('training_ended')
    const status = await stack.kubectl('get', 'pods', '-n', 'trainyard', '-l', pods, '-o', 'json')
    const { items } = JSON.parse(status) as { items: { status: { containerStatuses: { restartCount: number }[] } }[] }
    expect(items.map((item) => item.status.containerStatuses[0]?.restartCount)).toEqual([0])
  })
})
