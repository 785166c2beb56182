import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { listChildren } from '../support/child-processes.ts'
import { eventually } from '../support/eventually.ts'
import { killPart, killProgram, mainPid, podSelectors, waitUntilWhole } from '../support/kill.ts'
import { listLoadedAdapters } from '../support/loaded-adapters.ts'
import { chooseShare, isDeep } from '../support/random-cases.ts'
import { createRest, sampleGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const alternating = (_: string, index: number) => index % 2

// Everything works again before the next test.
afterEach(() => waitUntilWhole(stack, 400_000), 420_000)

/** A job that takes some seconds, because of many long answers and small batches. */
async function startLongJob() {
  const model = await rest.createModel()
  const groups = await Promise.all(
    ['Tell me about the sea.', 'Tell me a story.', 'Tell me about a horse.', 'How was your day?'].map((prompt) =>
      sampleGroup(rest, model.address, prompt, alternating, 16),
    ),
  )
  return { model, jobId: await rest.startJob(model.id, groups) }
}

/** Waits until a job has ended, and checks that it has one end, each gradient step once, and one checkpoint. */
async function expectOneEnd({ model, jobId }: Awaited<ReturnType<typeof startLongJob>>): Promise<void> {
  const events = await eventually(() => rest.waitForEnd(jobId), 120_000)
  expect(events.filter((event) => /^training_(ended|failed)$/.test(event.type)).map((event) => event.type)).toEqual([
    'training_ended',
  ])
  const steps = events.filter((event) => event.type === 'gradient_step')
  expect(steps).toHaveLength(Number(events[0]?.data.num_sequences))
  expect((await rest.listCheckpoints(model.id)).map((checkpoint) => checkpoint.step)).toEqual([1])
}

describe('a job survives kill -9, ends once and has one checkpoint', () => {
  const parts = ['trainer', 'operator', 'apiserver', 'status server'] as const
  test.for(chooseShare(parts, 1))('of the %s', async (part) => {
    const job = await startLongJob()
    await killPart(stack, part)
    await expectOneEnd(job)
  })

  test('of the engine, which serves every step again within 90 s', async () => {
    const job = await startLongJob()
    const started = Date.now()
    await killPart(stack, 'engine')
    await expectOneEnd(job)
    await waitUntilWhole(stack, 400_000)
    // Before it was Ready, it has loaded what is in use.
    const log = await stack.kubectl('logs', '-l', podSelectors.engine, '--tail=-1')
    expect(log).toMatch(/Loaded (\d+) of \1 adapters in use/)
    const [checkpoint] = await rest.listCheckpoints(job.model.id)
    await eventually(async () => expect(await listLoadedAdapters(stack)).toContain(checkpoint?.id))
    const [choice] = await eventually(() => rest.sample(`${job.model.address}:step1`, 'Tell me a story.'), 300_000)
    console.log(`engine: answers again after ${((Date.now() - started) / 1000).toFixed(1)} s (goal 90 s)`)
    expect(choice?.message.content).not.toBe('')
  })
})

test.runIf(isDeep())('chats are answered although the computing process of their engine is killed', async () => {
  const core = findEngineCore(await mainPid(stack, podSelectors.engine))
  const statuses: number[] = []
  let isOver = false
  const keepChatting = async (options: object) => {
    const messages = [{ role: 'user', content: 'Tell me a story.' }]
    while (!isOver) {
      const response = await rest.send('POST', '/v1/chat/completions', { model: stack.baseModel, messages, ...options })
      await response.text()
      statuses.push(response.status)
    }
  }
  const long = { max_tokens: 300, ignore_eos: true }
  const chatting = Promise.all([long, long, long, { max_tokens: 1 }].map(keepChatting))
  try {
    await eventually(() => expect(statuses.length).toBeGreaterThanOrEqual(4), 120_000)
    process.kill(core, 'SIGKILL')
    const killedAt = statuses.length
    // More than the engine may have answered just before.
    await eventually(() => expect(statuses.length).toBeGreaterThan(killedAt + 8), 300_000)
  } finally {
    isOver = true
    await chatting
  }
  expect(new Set(statuses)).toEqual(new Set([200]))
})

/** The process in which an engine computes. Linux keeps 15 characters of its name. */
function findEngineCore(engine: number): number {
  const readName = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  const core = listChildren(engine).find((pid) => readName(pid) === 'VLLM::EngineCor')
  if (core === undefined) throw new Error(`process ${engine} has no VLLM::EngineCore: is it an engine?`)
  return core
}

describe('a killed part answers again at the same address', () => {
  const goalMs = 15_000
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'postgres', 'node-agent']
  test.for(chooseShare(programs, 1))('%s', async (name) => {
    const started = Date.now()
    await killProgram(stack, name)
    await waitUntilWhole(stack, 10 * goalMs)
    console.log(`${name}: whole again after ${((Date.now() - started) / 1000).toFixed(1)} s (goal ${goalMs / 1000} s)`)
  })

  test('the pods of a killed node agent are the same processes afterwards', async () => {
    const before = await mainPid(stack, podSelectors.engine)
    await killProgram(stack, 'node-agent')
    await waitUntilWhole(stack, 400_000)
    expect(await mainPid(stack, podSelectors.engine)).toBe(before)
  })
})

test('without the operator, a POST is answered, and its job waits; then the job runs', async () => {
  const model = await rest.createModel()
  const group = await sampleGroup(rest, model.address, 'Tell me a story.', alternating)
  await stack.kubectl('scale', 'deployment/trainyard-operator', '--replicas=0')
  await eventually(async () => {
    expect(await stack.kubectl('get', 'pods', '-l', podSelectors.operator, '-o', 'name')).toBe('')
  })
  try {
    const jobId = await rest.startJob(model.id, [group])
    const row = await stack.kubectl('get', 'trainingjobs', '-l', `trainyard.dev/id=${jobId}`, '--no-headers')
    expect(row).toMatch(/Pending.*WaitingForOperator/)
    expect(await rest.listEvents(jobId)).toEqual([])
    await stack.kubectl('scale', 'deployment/trainyard-operator', '--replicas=1')
    expect((await rest.waitForEnd(jobId)).at(-1)?.type).toBe('training_ended')
  } finally {
    await stack.kubectl('scale', 'deployment/trainyard-operator', '--replicas=1')
  }
})

test('while Postgres is unavailable the API answers 503 with Retry-After, and then continues', async () => {
  const model = await rest.createModel()
  const path = `/v1/preview/models/${model.id}/checkpoints`
  let isBack = false
  const restarted = killProgram(stack, 'postgres').finally(() => {
    isBack = true
  })
  const answers = new Set<number>()
  await eventually(async () => {
    const response = await rest.send('GET', path)
    answers.add(response.status)
    if (response.status === 503) expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect({ isBack, status: response.status }).toEqual({ isBack: true, status: 200 })
  })
  await restarted
  expect([...answers].filter((status) => status !== 200 && status !== 503)).toEqual([])
})
