import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { isRunning, listChildren } from '../support/child-processes.ts'
import { eventually } from '../support/eventually.ts'
import { killPart, killProgram, mainPid, podSelectors, programPid, waitUntilWhole } from '../support/kill.ts'
import { expectOneEnd, startLongJob } from '../support/long-job.ts'
import { createRest, sampleGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const alternating = (_: string, index: number) => index % 2

// Everything works again before the next test.
afterEach(() => waitUntilWhole(stack, 400_000), 420_000)

describe('a job survives kill -9, ends once and has one checkpoint', () => {
  const parts = ['trainer', 'operator', 'apiserver', 'status server'] as const
  test.for(parts)('of the %s', async (part) => {
    const job = await startLongJob(rest)
    await killPart(stack, part)
    await expectOneEnd(rest, job)
  })
})

test('of two operators, one works again after a kill -9 and sooner after a SIGTERM; no other pod is made or started again', async () => {
  const readLease = async () => {
    const text = await stack.kubectl('get', 'lease', 'trainyard-operator', '-o', 'jsonpath={.spec}')
    return JSON.parse(text) as { holderIdentity: string; renewTime: string }
  }
  const others = `trainyard.dev/component in (engine,trainer)`
  const listOthers = async () => {
    const columns = '-o=custom-columns=:.metadata.uid,:.status.containerStatuses[*].restartCount'
    const own = await stack.kubectl('get', 'pods', '-l', others, columns, '--no-headers')
    const servers = await stack.kubectl('get', 'pods', '-l', podSelectors['status server'], columns, '--no-headers')
    return [...own.trim().split('\n'), ...servers.trim().split('\n')].toSorted()
  }
  const before = await listOthers()
  const killedAt = Date.now()
  await killPart(stack, 'operator')
  const { holderIdentity: next } = await eventually(
    async () => {
      const lease = await readLease()
      expect(Date.parse(lease.renewTime)).toBeGreaterThan(killedAt)
      return lease
    },
    60_000,
    100,
  )
  const afterKill = Date.now() - killedAt
  expect(afterKill).toBeLessThan(60_000)
  // The other one has to be Ready to take over at once.
  await stack.kubectl('rollout', 'status', 'deployment/trainyard-operator', '--timeout=120s')
  const stoppedAt = Date.now()
  await stack.kubectl('delete', 'pod', next, '--wait=false')
  await eventually(async () => expect(['', next]).not.toContain((await readLease()).holderIdentity), 60_000, 50)
  const afterStop = Date.now() - stoppedAt
  console.log(
    `operators: another one works ${afterKill} ms after a kill -9 (goal 20 s), ${afterStop} ms after a SIGTERM (3 s)`,
  )
  // Without a release, the lease would end later.
  expect(afterStop).toBeLessThan(12_000)
  await waitUntilWhole(stack, 400_000)
  expect(await listOthers()).toEqual(before)
})

test('chats are answered although the computing process of their engine is killed', async () => {
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
  test.for(programs)('%s', async (name) => {
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
  const scale = (replicas: number) => stack.kubectl('scale', 'deployment/trainyard-operator', `--replicas=${replicas}`)
  await scale(0)
  await eventually(async () => {
    expect(await stack.kubectl('get', 'pods', '-l', podSelectors.operator, '-o', 'name')).toBe('')
  })
  try {
    const jobId = await rest.startJob(model.id, [group])
    const row = await stack.kubectl('get', 'trainingjobs', '-l', `trainyard.dev/id=${jobId}`, '--no-headers')
    expect(row).toMatch(/Pending.*WaitingForOperator/)
    expect(await rest.listEvents(jobId)).toEqual([])
    await scale(2)
    expect((await rest.waitForEnd(jobId)).at(-1)?.type).toBe('training_ended')
  } finally {
    await scale(2)
  }
})

test('sixty seconds without Postgres cost a running job no attempt, and it trains on and repeats no step', async () => {
  const job = await startSftJob(6_000)
  const countSteps = async () =>
    (await rest.listEvents(job.jobId)).filter(({ type }) => type === 'gradient_step').length
  await eventually(async () => expect(await countSteps()).toBeGreaterThan(0))
  const postmaster = programPid(stack, 'postgres')
  const before = await countSteps()
  // No new process comes then, and some of the present ones may end.
  process.kill(postmaster, 'SIGSTOP')
  const all = [...listChildren(postmaster), postmaster]
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all.filter(isRunning)) process.kill(pid, name)
  }
  signal('SIGSTOP')
  await delay(60_000).finally(() => signal('SIGCONT'))
  await waitUntilWhole(stack, 60_000)
  // What was reported before, and then at once what was kept.
  const trainedMeanwhile = (await eventually(countSteps)) - before
  await expectOneEnd(rest, job, 600_000)
  const { attempt } = await rest.call<{ attempt: number }>('GET', `/v1/preview/training-jobs/${job.jobId}`)
  console.log(`${trainedMeanwhile} steps were trained in the meantime`)
  expect({ attempt, hasTrained: trainedMeanwhile > 100 }).toEqual({ attempt: 1, hasTrained: true })
}, 900_000)

/** A job of so many steps, which takes minutes. */
async function startSftJob(steps: number) {
  const model = await rest.createModel()
  const messages = [
    { role: 'user', content: 'Tell me a story.' },
    { role: 'assistant', content: 'There was a horse. '.repeat(8) },
  ]
  const path = `/v1/preview/artifacts/${model.entity}/tests/${model.id}`
  const { address } = await rest.upload<{ address: string }>(path, `${JSON.stringify({ messages })}\n`.repeat(steps))
  const config = { batch_size: 1, learning_rate: 1e-4 }
  const body = { model_id: model.id, training_data_url: address, config }
  const { id: jobId } = await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', body)
  return { model, jobId }
}

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
