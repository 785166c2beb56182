import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { TrainyardClient } from '../../local/demo/client.ts'
import { tasks } from '../../local/demo/rewards.ts'
import { runMainJob } from '../../local/demo/run.ts'
import { eventually } from '../support/eventually.ts'
import { limitCases } from '../support/random-cases.ts'
import { createRest, sampleGroup, type Choice, type TrainingEvent, type TrajectoryGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const alternating = (_: string, index: number) => index % 2

test('a job emits started, its gradient steps and ended, and lists one checkpoint before it ends', async () => {
  const model = await rest.createModel()
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', alternating)
  const events = await rest.waitForEnd(await rest.startJob(model.id, [group]))

  const started = events[0]
  const steps = events.filter((event) => event.type === 'gradient_step')
  expect(events.map((event) => event.type)).toEqual([
    'training_started',
    ...steps.map(() => 'gradient_step'),
    'training_ended',
  ])
  expect(started?.data.num_sequences).toBe(steps.length)
  expect(steps.length).toBeGreaterThan(0)
  for (const step of steps) for (const value of Object.values(step.data)) expect(Number.isFinite(value)).toBe(true)

  const checkpoints = await rest.listCheckpoints(model.id)
  expect(checkpoints.map((checkpoint) => checkpoint.step)).toEqual([1])
  expect(checkpoints[0]?.metrics.reward).toBeCloseTo(0.5)
})

test('jobs of one model run in order of arrival, each from the newest checkpoint', async () => {
  const model = await rest.createModel()
  const group = await sampleGroup(rest, model.address, 'Tell me about a horse.', alternating)
  const jobs = [
    await rest.startJob(model.id, [group]),
    await rest.startJob(model.id, [group]),
    await rest.startJob(model.id, [group]),
  ]
  for (const job of jobs) expect((await rest.waitForEnd(job)).at(-1)?.type).toBe('training_ended')
  const checkpoints = await rest.listCheckpoints(model.id)
  expect(checkpoints.map((checkpoint) => checkpoint.step)).toEqual([1, 2, 3])
})

test('equal rewards make a step with a bit-equal adapter, and events, job and resource say that nothing was trained', async () => {
  const model = await rest.createModel()
  const prompt = 'What did you see today?'
  const trained = await sampleGroup(rest, model.address, prompt, alternating)
  await rest.waitForEnd(await rest.startJob(model.id, [trained]))
  const equal = await sampleGroup(rest, model.address, prompt, () => 1)
  const job = await rest.startJob(model.id, [equal])
  const events = await rest.waitForEnd(job)
  expect(events.map((event) => event.type)).toEqual(['training_started', 'training_ended'])
  await expectNothingTrained(job, events)

  const [first, second] = await Promise.all((await rest.listCheckpoints(model.id)).map((item) => readAdapter(item.id)))
  expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true)
})

async function expectNothingTrained(job: string, events: TrainingEvent[]): Promise<void> {
  const cause =
    '1 of 1 groups has equal rewards, so that every advantage is zero. A group needs at least two trajectories with ' +
    'different rewards.'
  const message = `Nothing was trained: ${cause}`
  const warnings = [
    { code: 'no_trainable_trajectories', message },
    { code: 'equal_rewards', message: cause },
  ]
  expect(events[0]?.data['warnings']).toEqual(warnings)
  expect(await rest.call('GET', `/v1/preview/training-jobs/${job}`)).toMatchObject({ warnings })
  const columns = '-o=jsonpath={.items[0].metadata.name}|{.items[0].status.message}'
  const [name, reported] = await eventually(async () => {
    const found = (await stack.kubectl('get', 'tj', '-l', `trainyard.dev/id=${job}`, columns)).split('|')
    expect(found[1]).toMatch(/^Created step/)
    return found
  })
  expect(reported).toBe(`Created step 2 of its model. ${message}`)
  const said = await stack.kubectl('events', '--for', `trainingjob/${name}`, '--types=Warning')
  expect(said).toContain('NoTrainableTrajectories')
  expect(said).toContain('EqualRewards')
}

test('a trained step gives other answers than before, and step 0 the same as at the start', async () => {
  const model = await rest.createModel()
  const prompt = 'Tell me about the garden.'
  const greedy = { temperature: 0, max_completion_tokens: 12 }
  const before = await scoreTokens(model.address, prompt, greedy)
  const group = await sampleGroup(rest, model.address, prompt, alternating)
  await rest.waitForEnd(await rest.startJob(model.id, [group], { learning_rate: 3e-3 }))

  expect(await scoreTokens(`${model.address}:step0`, prompt, greedy)).toEqual(before)
  expect(await scoreTokens(`${model.address}:step1`, prompt, greedy)).not.toEqual(before)
  expect(await scoreTokens(model.address, prompt, greedy)).toEqual(
    await scoreTokens(`${model.address}:step1`, prompt, greedy),
  )
})

test('a choice rebuilt from a stream trains like a plain one', async () => {
  const model = await rest.createModel()
  const prompt = 'Tell me about the market.'
  const trajectories = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => ({
      messages_and_choices: [{ role: 'user', content: prompt }, await rebuildFromStream(model.address, prompt)],
      reward: index % 2,
    })),
  )
  const events = await rest.waitForEnd(await rest.startJob(model.id, [{ trajectories }]))
  const sampled = trajectories.map(
    (trajectory) => (trajectory.messages_and_choices[1] as Choice).logprobs?.content.length ?? 0,
  )
  const trained = events
    .filter((event) => event.type === 'gradient_step')
    .map((event) => Number(event.data.num_trainable_tokens))
  expect(sum(trained)).toBe(sum(sampled))
})

const chosen = limitCases(['warm', 'other', 'tool', 'letter'], 1)
const learned = tasks.filter(({ name }) => chosen.includes(name))

test.for(learned)('the main job learns the reward "$name"', async (task) => {
  const client = new TrainyardClient(stack.url, stack.apiKey)
  // A tool call has four times the tokens of an answer, and is learned sooner.
  const steps = task.tools ? 7 : 12
  const { rewards } = await runMainJob(client, { task, steps, baseModel: stack.baseModel, print: () => {} })
  expect(mean(rewards.slice(-3))).toBeGreaterThan((rewards[0] ?? 1) + task.promisedRise)
})

test.runIf(chosen.includes('letter'))(
  'a reward that pretraining does not favour rises by more than three standard errors in 12 steps',
  async () => {
    const model = await rest.createModel()
    const prompts = [
      'Tell me about the sea.',
      'Tell me about a horse.',
      'What did you see today?',
      'Say something about music.',
      'Tell me a story.',
      'How was your day?',
      'Tell me about the garden.',
      'What do you think of the city?',
    ]
    const share = (text: string) =>
      text.replaceAll(/[^e]/gi, '').length / Math.max(1, text.replaceAll(/[^a-z]/gi, '').length)
    const rollOut = () => Promise.all(prompts.map((prompt) => sampleGroup(rest, model.address, prompt, share)))

    // With this many answers, noise is small compared to the effect of 12 steps.
    const measure = async () => {
      const rewards: number[] = []
      for (let round = 0; round < 4; round++) rewards.push(...rewardsOf(await rollOut()))
      return rewards
    }

    const first = await measure()
    for (let step = 0; step < 12; step++) {
      const job = await rest.startJob(model.id, await rollOut(), { learning_rate: 4e-3 })
      expect((await rest.waitForEnd(job)).at(-1)?.type).toBe('training_ended')
    }
    const last = await measure()
    const standardError = Math.sqrt(variance(first) / first.length + variance(last) / last.length)
    expect(mean(last) - mean(first)).toBeGreaterThan(3 * standardError)
  },
)

function readAdapter(checkpointId: string): Promise<Buffer> {
  return readFile(path.join(stack.artifacts, 'checkpoints', checkpointId, 'adapter_model.safetensors'))
}

/**
 * The greedy answer with its log-probabilities. They are rounded, because batching on the engine changes the last
 * digits.
 */
async function scoreTokens(
  model: string,
  prompt: string,
  options: Record<string, unknown>,
): Promise<[string, number][]> {
  const [choice] = await rest.sample(model, prompt, options)
  return (choice?.logprobs?.content ?? []).map(({ token, logprob }) => [token, Number(logprob.toFixed(3))])
}

/** Rebuilds a choice from a stream, as a client does that only keeps content and log-probabilities. */
async function rebuildFromStream(model: string, prompt: string): Promise<Choice> {
  const body = { model, messages: [{ role: 'user', content: prompt }], max_completion_tokens: 24, stream: true }
  const response = await rest.send('POST', '/v1/chat/completions', body)
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const deltas = lines.map((line) => (JSON.parse(line.slice(6)) as { choices: StreamChoice[] }).choices[0])
  return {
    message: { role: 'assistant', content: deltas.map((delta) => delta?.delta.content ?? '').join('') },
    logprobs: { content: deltas.flatMap((delta) => delta?.logprobs?.content ?? []) },
    finish_reason: deltas.findLast((delta) => delta?.finish_reason)?.finish_reason ?? 'stop',
  }
}

interface StreamChoice {
  delta: { content?: string }
  logprobs?: Choice['logprobs']
  finish_reason?: string | null
}

function rewardsOf(groups: TrajectoryGroup[]): number[] {
  return groups.flatMap((group) => group.trajectories.map((trajectory) => trajectory.reward))
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: number[]): number {
  return sum(values) / values.length
}

function variance(values: number[]): number {
  const center = mean(values)
  return sum(values.map((value) => (value - center) ** 2)) / (values.length - 1)
}
