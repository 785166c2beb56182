import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureClientPython } from '../support/client-python.ts'
import { isDeep } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const stack = useStack()

interface ArtRun {
  /** The environment of the wandb SDK, so that it reads no key of the machine. */
  wandb?: NodeJS.ProcessEnv
  args?: string[]
  /** The folder of the requirements. By default, that of the script. */
  packages?: string
}

/** The two lines of the README. */
const withKey = { WANDB_BASE_URL: stack.url, WANDB_API_KEY: stack.apiKey }

/** Runs a script with the ART version of its folder's requirements. Returns the last line that is JSON. */
async function runArt<Seen>(folder: string, script: string, options: ArtRun = {}): Promise<Seen> {
  const { wandb = { WANDB_MODE: 'disabled' }, args = [], packages = folder } = options
  const python = await ensureClientPython(packages)
  const scratch = await mkdtemp(path.join(tmpdir(), 'trainyard-art-'))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    TRAINYARD_URL: stack.url,
    TRAINYARD_API_KEY: stack.apiKey,
    TRAINYARD_BASE_MODEL: stack.baseModel,
    WANDB_ERROR_REPORTING: 'false',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    HF_HUB_OFFLINE: '1',
    WANDB_API_KEY: undefined,
    ...wandb,
  }
  try {
    const file = path.join(import.meta.dirname, folder, script)
    const { stdout } = await run(python, [file, scratch, ...args], { env, cwd: scratch, maxBuffer: 16 * 1024 * 1024 })
    // The wandb SDK may print more lines at its end.
    return JSON.parse(stdout.split('\n').findLast((line) => line.startsWith('{')) ?? '') as Seen
  } finally {
    await rm(scratch, { recursive: true })
  }
}

interface MainJob {
  entity: string
  artifact_names: string[]
  metrics: string[]
  early_model: string
  early_name: string
  early_text: string
}

interface ToolRollouts {
  /** the mean reward before each step */
  rewards: number[]
  jobs: { step: number; metrics: Record<string, number>; called: number; sampled_tokens: number }[]
}

describe("ART's ServerlessBackend without wandb", () => {
  const steps = isDeep() ? 6 : 1
  let seen: MainJob
  let tools: ToolRollouts

  beforeAll(async () => {
    const scripts = [['main_job.py'], ['tool_rollouts.py', `${steps}`]]
    const args = scripts.map((script) => JSON.stringify(script))
    const { results } = await runArt<{ results: [MainJob, ToolRollouts] }>('art', 'in_turn.py', { args })
    ;[seen, tools] = results
  })

  test('registers, rolls out, trains twice, reads step 2 and infers on :step1', () => {
    expect(seen).toMatchObject({
      step: 2,
      trained_steps: [1, 2],
      early_model: seen.early_name,
      early_has_logprobs: true,
    })
    expect(seen.artifact_names[1]).toMatch(new RegExp(`^${seen.entity}/art-test/art-[0-9a-f]{8}:step2$`))
    expect(seen.metrics).toContain('loss/train')
    expect(seen.early_text).not.toBe('')
  })

  test(`has an agent that learns which tool to call${isDeep() ? '' : ', and trains all tokens of its turns'}`, () => {
    const { rewards, jobs } = tools
    expect(jobs.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, index) => index + 1))
    for (const { step, metrics, called, sampled_tokens: sampled } of jobs) {
      // An agent that has learned it has the same reward in all rollouts of a question, which then train nothing.
      if (step > 1 && sampled === 0) continue
      expect(called).toBeGreaterThan(0)
      const tokens = metrics['data/step_trainer_tokens']! * metrics['data/step_num_gradient_steps']!
      expect(Math.round(tokens)).toBe(sampled)
      expect(Number.isFinite(metrics['loss/train'])).toBe(true)
    }
    // One step teaches less than chance moves the mean of its rollouts.
    if (isDeep()) expect((rewards.at(-2)! + rewards.at(-1)!) / 2).toBeGreaterThan(rewards[0]! + 0.2)
  })
})

const lora = ['adapter_config.json', 'adapter_model.safetensors']
const seenLife = {
  trained: 1,
  listed: [1, 2],
  pulled: lora,
  pulled_all: true,
  forked: [2],
  forked_trained: 3,
  first: [lora, true, [1, 2]],
  wandb: {
    versions: [
      ['v-1', ['step0'], {}],
      ['v0', ['step1'], { 'wandb.provenance': ['serverless-rl'] }],
      ['v1', ['latest', 'step2'], { 'wandb.provenance': ['serverless-sft'] }],
    ],
    rewards: [1.5],
  },
  wandb_fork: {
    versions: [
      ['v-1', ['step0'], {}],
      ['v0', ['step2'], {}],
      ['v1', ['latest', 'step3'], { 'wandb.provenance': ['serverless-rl'] }],
    ],
    rewards: [1.5],
  },
  left: [2],
  gone: true,
}

test('ART of today trains, trains SFT with its own upload, pulls, forks and logs metrics with WANDB_API_KEY set', async () => {
  expect(await runArt('art', 'whole_life.py', { wandb: withKey })).toEqual(seenLife)
})

test.runIf(isDeep())('so it does with the wandb SDK that it pins', async () => {
  expect(await runArt('art', 'whole_life.py', { wandb: withKey, packages: 'art-pinned' })).toEqual(seenLife)
})

test.runIf(isDeep())("ART's main job runs with WANDB_API_KEY set", async () => {
  expect(await runArt('art', 'main_job.py', { wandb: withKey })).toMatchObject({ step: 2, trained_steps: [1, 2] })
})

const sftEvents = ['training_started', 'gradient_step', 'gradient_step', 'training_ended']
const seenOldLife = { trained_step: 1, sft_events: sftEvents, listed: [1, 2], left: [2], gone: true }

test('ART of the oldest version with the serverless client trains, and trains SFT by address', async () => {
  expect(await runArt('art-oldest', 'whole_life.py', { wandb: withKey })).toEqual(seenOldLife)
})
