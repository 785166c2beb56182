import { readFileSync } from 'node:fs'
import { newId } from '../../apiserver/tracing/ids.ts'
import { prompts } from '../../local/demo/rewards.ts'
import { ModelRows } from '../support/model-rows.ts'
import type { ApiStack } from '../support/services.ts'
import { upsertRun } from '../support/wandb.ts'
import { createRun, type Rollout, type TestRun, type World } from './world.ts'

const warm = ['Red', 'Orange', 'Pink']
const cool = ['Blue', 'Green', 'Purple']
const perPrompt = 4

/** A number between 0 and 1 that is always the same for the same coordinates. */
function noise(...coordinates: number[]): number {
  const sum = coordinates.reduce((total, part, index) => total + part * (12.9898 + index * 66.726), 1)
  return Math.abs(Math.sin(sum) * 43_758.5453) % 1
}

/** What the policy of a step answers: ever more often a warm colour, as in the demo. */
export function rollOut(step: number, lastStep: number): Rollout[] {
  const skill = 0.3 + (0.68 * step) / Math.max(1, lastStep)
  return prompts.slice(0, 6).flatMap((prompt, at) =>
    Array.from({ length: perPrompt }, (_, index) => {
      const isRight = noise(step, at, index) < skill
      const colour = (isRight ? warm : cool)[Math.floor(noise(index, at, step) * 3)]!
      const answer = noise(at, step) < 0.5 ? `${colour} is nice.` : `It looks ${colour.toLowerCase()} to me.`
      return { prompt, answer, reward: isRight ? 1 : 0, scenario: `colour-${at + 1}` }
    }),
  )
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** The metrics of a step, as the trainer reports them. */
function measure(rollouts: readonly Rollout[], step: number) {
  const reward = meanOf(rollouts.map((each) => each.reward))
  return {
    reward,
    reward_std_dev: Math.sqrt(reward * (1 - reward)) * 0.8,
    loss: -0.08 - noise(step) * 0.4,
    entropy: 1.9 - step * 0.09 + noise(step, 2) * 0.2,
    kl_div: step * 0.004 + noise(step, 3) * 0.01,
    grad_norm: 0.6 + noise(step, 4) * 0.5,
    clip_fraction: noise(step, 5) * 0.06,
    num_trainable_tokens: 180 + Math.floor(noise(step, 6) * 60),
    tokens_per_second: 900 + noise(step, 7) * 200,
  }
}

/** Trains a run for some steps. Every third step is evaluated. */
export async function trainRun(run: TestRun, steps: number): Promise<string[]> {
  const jobs: string[] = []
  for (let step = 0; step < steps; step++) {
    const rollouts = rollOut(step, steps)
    const val = rollOut(step + 0.5, steps).filter((_, index) => index % 3 === 0)
    if (step % 3 === 0) await run.log('val', val)
    const measured = measure(rollouts, step)
    jobs.push(
      await run.train(rollouts, {
        ...measured,
        ...(step % 3 === 0 && { 'val/reward': meanOf(val.map((each) => each.reward)) }),
      }),
    )
  }
  return jobs
}

/** What screens show. */
export interface Demo {
  project: string
  /** The run with the most steps. */
  run: TestRun
  /** A job that has succeeded, one that failed, one at work and one that waits for it. */
  jobs: { succeeded: string; failed: string; running: string; waiting: string }
  /** A trajectory of the run. */
  trajectory: string
  /** A call that calls a model and a tool, and the call of the tool: it fails, and its inputs are large. */
  calls: { root: string; tool: string }
  /** A run that a program has logged, without a model. */
  logged: string
  /** An uploaded data set. */
  dataSet: string
}

/** Logs a run as the wandb SDK does. */
async function logRun(world: World, project: string): Promise<string> {
  const [api, name] = [{ url: world.server.url, key: world.key }, 'baseline']
  await upsertRun(api, { modelName: project, name, config: JSON.stringify({ lr: { value: 0.01 } }) })
  const lines = Array.from({ length: 8 }, (_, step) => JSON.stringify({ _step: step, loss: 1 / (step + 1), note: 'x' }))
  const files = { 'wandb-history.jsonl': { offset: 0, content: lines } }
  await world.rest.call('POST', `/files/${world.entity}/${project}/${name}/file_stream`, { files })
  return name
}

/** Uploads a data set of one row. */
async function upload(world: World, project: string): Promise<string> {
  const row = { messages: ['user', 'assistant'].map((role) => ({ role, content: 'Orange.' })) }
  const address = `${world.server.url}/v1/preview/artifacts/${world.entity}/${project}/rows?file=train.jsonl`
  const headers = { authorization: `Bearer ${world.key}`, 'content-type': 'application/jsonl' }
  const response = await fetch(address, { method: 'PUT', headers, body: JSON.stringify(row) })
  if (!response.ok) throw new Error(await response.text())
  return 'rows'
}

/** Sends a trace of three calls, as weave does. */
async function traceCalls(world: World, project: string): Promise<Demo['calls']> {
  const projectId = `${world.entity}/${project}`
  const [trace, root, chat, tool] = [newId(), newId(), newId(), newId()]
  const messages = [{ role: 'user', content: 'Which colour is warm?' }]
  const answer = { choices: [{ message: { role: 'assistant', content: 'Orange is warm.' }, finish_reason: 'stop' }] }
  const usage = { usage: { 'tiny-chat': { prompt_tokens: 12, completion_tokens: 4 } } }
  const at = (ms: number) => new Date(Date.parse('2026-11-21T10:00:00Z') + ms).toISOString()
  const calls = [
    {
      id: root,
      op_name: 'answer_question',
      inputs: { question: 'warm?' },
      from: 0,
      to: 900,
      output: answer,
      summary: usage,
    },
    { id: chat, op_name: 'openai.chat', inputs: { messages }, from: 20, to: 610, output: answer, summary: usage },
    {
      id: tool,
      op_name: 'look_up',
      inputs: { colour: 'orange '.repeat(50_000) },
      from: 640,
      to: 880,
      exception: 'KeyError: orange',
    },
  ]
  for (const { id, op_name, inputs, from, to, output = null, summary = {}, exception = null } of calls) {
    const parent = id === root ? {} : { parent_id: root }
    const ids = { project_id: projectId, id, trace_id: trace, ...parent }
    const start = { ...ids, op_name, started_at: at(from), attributes: { team: 'colours' }, inputs }
    await world.rest.call('POST', '/call/start', { start })
    const end = { project_id: projectId, id, ended_at: at(to), output, summary, exception }
    await world.rest.call('POST', '/call/end', { end })
  }
  return { root, tool }
}

/** Fills a project as the demo would, with some more runs. */
export async function makeDemo(world: World, stack: ApiStack, project = 'demo'): Promise<Demo> {
  const run = await createRun(world, stack, project, 'warm-20261121041007')
  const jobs = await trainRun(run, 12)
  await world.rest.call('PUT', `/v1/preview/models/${run.id}/aliases/prod`, { step: 9 })
  const other = await createRun(world, stack, project, 'other-20261121050211')
  await trainRun(other, 4)
  const tool = await createRun(world, stack, project, 'tool-20261122093354')
  await tool.queue(rollOut(0, 4))
  const broken = await tool.claim(2)
  await broken.fail('The trajectory 3 of group 1 has 40,112 tokens. The model takes at most 32,768.')
  await tool.queue(rollOut(1, 4))
  const running = await tool.claim(8)
  for (let at = 0; at < 3; at++) await running.step({ loss: -0.1 * at, entropy: 1.8, grad_norm: 0.7 })
  const waiting = await tool.queue(rollOut(2, 4), { learning_rate: 0.001, ppo: true, epsilon: 0.2 })
  const listed = await world.rest.call<{ data: { id: string }[] }>(
    'GET',
    `/v1/preview/models/${run.id}/trajectories?step=12&limit=1`,
  )
  return {
    project,
    run,
    jobs: { succeeded: jobs.at(-1)!, failed: broken.id, running: running.id, waiting },
    trajectory: listed.data[0]!.id,
    calls: await traceCalls(world, project),
    logged: await logRun(world, project),
    dataSet: await upload(world, project),
  }
}

/** Trains a run whose checkpoint has token statistics. Returns its name and its trajectories. */
export async function trainMeasured(world: World, stack: ApiStack, project: string) {
  const run = await createRun(world, stack, project, 'measured')
  const rollout = (prompt: string, answer: string, reward: number): Rollout => ({ prompt, answer, reward })
  // The file has statistics of as many tokens.
  const rollouts = [
    rollout('Which colour is warm?', 'Red is nice.', 1),
    rollout('Which colour is warm?', 'Blue it is now.', 0),
    rollout('Name a warm colour.', 'Red is nice.', 1),
  ]
  await run.train(rollouts, { loss: 1, reward: 0.5 })
  const { id } = await world.rest.call<{ id: string }>('GET', `/v1/preview/models/${run.id}/checkpoints/latest`)
  const file = new URL('../../apiserver/training/trajectories/tokens/token-statistics.parquet', import.meta.url)
  await new ModelRows(world.database.pool, stack.artifacts).addStatistics(id, readFileSync(file))
  const path = `/v1/preview/models/${run.id}/trajectories`
  const { data } = await world.rest.call<{ data: { id: string }[] }>('GET', path)
  return { id: run.id, name: run.name, trajectories: data.map((row) => row.id) }
}
