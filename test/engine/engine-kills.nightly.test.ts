import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { enginePoints } from '../faults/kill-points/points.ts'
import { addRound } from '../faults/kill-points/total.ts'
import { killPart, mainPid, podSelectors, waitUntilWhole } from '../support/kill.ts'
import { listLoadedAdapters } from '../support/loaded-adapters.ts'
import { expectOneEnd, startLongJob } from '../support/long-job.ts'
import { ensureSeed } from '../support/random-cases.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const file = process.env.TRAINYARD_TEST_KILLS_FILE
const kill = () => killPart(stack, 'engine')

/** Kills the engine while it writes a long answer. */
async function killInChat(): Promise<void> {
  const messages = [{ role: 'user', content: 'Tell me a story.' }]
  const options = { max_tokens: 300, ignore_eos: true, stream: true }
  const response = await rest.send('POST', '/v1/chat/completions', { model: stack.baseModel, messages, ...options })
  const reader = response.body!.getReader()
  expect((await reader.read()).done).toBe(false)
  await kill()
  await reader.cancel()
}

/** Kills the engine as soon as the job has a checkpoint, which the engine loads then. */
async function killInLoad(modelId: string): Promise<void> {
  await eventually(async () => expect(await rest.listCheckpoints(modelId)).toHaveLength(1), 120_000, 20)
  await kill()
}

/** Kills the engine, and its successor before it is Ready. */
async function killInStart(): Promise<void> {
  const first = await mainPid(stack, podSelectors.engine)
  await kill()
  await eventually(async () => expect(await mainPid(stack, podSelectors.engine)).not.toBe(first), 60_000, 50)
  await kill()
}

const kills: Record<(typeof enginePoints)[number], (modelId: string) => Promise<void>> = {
  'while a job trains': kill,
  'in a chat': killInChat,
  'while it loads an adapter': killInLoad,
  'in its start': killInStart,
}

test.for(enginePoints)(
  'an engine that is killed %s serves every step again within 90 s, and its job ends once',
  async (point) => {
    const job = await startLongJob(rest)
    await kills[point](job.model.id)
    const killedAt = Date.now()
    await expectOneEnd(rest, job)
    await waitUntilWhole(stack, 400_000)
    // Before it was Ready, it has loaded what is in use.
    const log = await stack.kubectl('logs', '-l', podSelectors.engine, '--tail=-1')
    expect(log).toMatch(/Loaded (\d+) of \1 adapters in use/)
    const [checkpoint] = await rest.listCheckpoints(job.model.id)
    await eventually(async () => expect(await listLoadedAdapters(stack)).toContain(checkpoint?.id))
    const [choice] = await eventually(() => rest.sample(`${job.model.address}:step1`, 'Tell me a story.'), 300_000)
    console.log(`engine: answers again after ${((Date.now() - killedAt) / 1000).toFixed(1)} s (goal 90 s)`)
    expect(choice?.message.content).not.toBe('')
    if (file !== undefined) addRound(file, { seed: ensureSeed(), reached: [`engine: ${point}`] })
  },
)
