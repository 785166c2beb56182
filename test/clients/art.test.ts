import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureClientPython, ensurePeersPython, listArtFolders } from '../support/client-python.ts'
import { isNightly, limitCases } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const stack = useStack()

/** The two lines of the README. */
const withKey = { WANDB_BASE_URL: stack.url, WANDB_API_KEY: stack.apiKey }

interface ArtRun {
  /** The environment of the wandb SDK, so that it reads no key of the machine. */
  wandb?: NodeJS.ProcessEnv
  args?: string[]
  /** The folder of the script. */
  scripts?: string
}

/** Runs a script with the packages of a folder. Returns the last line that is JSON. */
async function runArt<Seen>(packages: string, script: string, options: ArtRun = {}): Promise<Seen> {
  const { wandb = { WANDB_MODE: 'disabled' }, args = [], scripts = 'art' } = options
  const file = path.join(import.meta.dirname, scripts, script)
  const lines = await runProgram(packages, [file], wandb, args)
  // The wandb SDK may print more lines at its end.
  return JSON.parse(lines.findLast((line) => line.startsWith('{')) ?? '') as Seen
}

/** Runs several scripts, each with its arguments, in one process. */
async function runInTurn<Results>(packages: string, scripts: string[][], wandb?: NodeJS.ProcessEnv): Promise<Results> {
  const args = scripts.map((script) => JSON.stringify(script))
  const options = wandb ? { args, wandb } : { args }
  return (await runArt<{ results: Results }>(packages, 'in_turn.py', options)).results
}

/** Runs a Python program, whose first argument is a folder of its own. Returns its lines. */
async function runProgram(packages: string, program: string[], wandb: NodeJS.ProcessEnv, args: string[] = []) {
  const python = packages === 'peers' ? await ensurePeersPython() : await ensureClientPython(packages)
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
    const options = { env, cwd: scratch, maxBuffer: 16 * 1024 * 1024 }
    return (await run(python, [...program, scratch, ...args], options)).stdout.split('\n')
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

const newest = 'art'
// The oldest is nightly.
const folders = limitCases(await listArtFolders(), 1)
/** The name of a metric has changed. */
const trainedTokens = (folder: string) =>
  `data/step_${folder === newest ? 'trainable_assistant_tokens' : 'trainer_tokens'}`

describe.each(folders)('ART of %s without wandb', (folder) => {
  const steps = isNightly() ? 6 : 1
  let seen: MainJob
  let tools: ToolRollouts

  beforeAll(async () => {
    ;[seen, tools] = await runInTurn<[MainJob, ToolRollouts]>(folder, [
      ['main_job.py'],
      ['tool_rollouts.py', `${steps}`],
    ])
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

  test(`has an agent that learns which tool to call${isNightly() ? '' : ', and trains all tokens of its turns'}`, () => {
    const { rewards, jobs } = tools
    expect(jobs.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, index) => index + 1))
    for (const { step, metrics, called, sampled_tokens: sampled } of jobs) {
      // An agent that has learned it has the same reward in all rollouts of a question, which then train nothing.
      if (step > 1 && sampled === 0) continue
      expect(called).toBeGreaterThan(0)
      const tokens = metrics[trainedTokens(folder)]! * metrics['data/step_num_gradient_steps']!
      expect(Math.round(tokens)).toBe(sampled)
      expect(Number.isFinite(metrics['loss/train'])).toBe(true)
    }
    // One step teaches less than chance moves the mean of its rollouts.
    if (isNightly()) expect((rewards.at(-2)! + rewards.at(-1)!) / 2).toBeGreaterThan(rewards[0]! + 0.2)
  })
})

interface Settings {
  losses: Record<string, number>
  [name: string]: unknown
}

describe.runIf(folders.includes(newest))("what only ART's newest release sends", () => {
  let defaults: object
  let settings: Settings
  let turns: object
  let chats: object

  beforeAll(async () => {
    const scripts = ['defaults', 'settings', 'sft_turns', 'chats'].map((name) => [`${name}.py`])
    const seen = await runInTurn<[object, Settings, object, object]>(newest, scripts, withKey)
    ;[defaults, settings, turns, chats] = seen
  })

  test('rewards of 0, empty groups and empty trajectories are left out of its bodies', () => {
    expect(defaults).toEqual({
      steps: [1, 2],
      all_trained: [true, true],
      rewards: [0.5, 0.5],
      warnings: ['empty_groups', 'no_answers'],
    })
  })

  test('each of its settings has its effect, or none', () => {
    const { losses, ...rest } = settings
    expect(rest).toEqual({
      penalty: expect.closeTo(0, 6) as number,
      path: ['UnprocessableEntityError', expect.stringContaining('kl_ref_adapter_path')],
      missing_reference: [expect.any(String), expect.stringContaining('99')],
      without_logprobs: [0, expect.arrayContaining(['missing_log_probabilities'])],
      allowed: true,
      too_long: [1, 0, expect.arrayContaining(['too_long'])],
    })
    const same = (loss: number) => expect.closeTo(loss, 6) as number
    const { default: plain, 'ppo by name': ppo, 'not normalized': centred } = losses as Required<typeof losses>
    expect(losses).toEqual({
      default: plain,
      cispo: same(plain!),
      'not ppo': same(plain!),
      'ppo by name': ppo,
      'ppo by flag': same(ppo!),
      'not normalized': centred,
      'not scaled': same(centred!),
      hosted: same(plain!),
      'no penalty': same(plain!),
      'own penalty': same(plain!),
    })
    // How much they differ depends on what was sampled.
    expect(Math.abs(ppo! - plain!)).toBeGreaterThan(1e-5)
    expect(Math.abs(centred! - plain!)).toBeGreaterThan(1e-5)
  })

  test('SFT trains the last turns or all, and the service logs its metrics', () => {
    expect(turns).toEqual({
      batches: [2, 2],
      fewer: [true, true],
      optimizer_rows: [
        [1, 1],
        [1, 2],
      ],
      means: [1],
      has_losses: true,
      unanswered: 'RuntimeError',
    })
  })

  test('ids, log-probabilities and usage of chats agree, and a lease names a step', () => {
    expect(chats).toEqual({
      plain: true,
      several: true,
      one_token: true,
      tool: true,
      streamed: true,
      several_streamed: true,
      leased: [true, true, true],
      exact: true,
    })
  })

  // It imports ART's own trainer, which needs torch.
  test('PipelineTrainer rolls out while the service trains', async () => {
    const seen = await runArt('peers', 'pipeline.py')
    expect(seen).toEqual({ step: 3, states: Array(3).fill('Succeeded'), references: [0, 0, 1] })
  })
})

test.each(folders)(`the program of README.md ${isNightly() ? 'learns' : 'trains'} with ART of %s`, async (folder) => {
  const readme = await readFile(path.join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
  const [, program = ''] = /^```python\n(import asyncio.*?)^```/ms.exec(readme)!
  const unique = program.replaceAll('"agent"', `"agent-${randomUUID()}"`)
  const text = isNightly() ? unique : unique.replace('range(10)', 'range(1)')
  const lines = await runProgram(folder, ['-c', text], withKey)
  const steps = lines.map((line) => line.split(' ').map(Number)).filter(([step]) => step! > 0)
  expect(steps.map(([step]) => step)).toEqual(Array.from({ length: isNightly() ? 10 : 1 }, (_, index) => index + 1))
  const rewards = steps.map(([, reward]) => reward!)
  if (isNightly()) expect((rewards.at(-2)! + rewards.at(-1)!) / 2).toBeGreaterThan(rewards[0]! * 0.8)
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

test.each(folders)(
  'ART of %s trains, trains SFT with its own upload, pulls, forks and logs metrics with WANDB_API_KEY set',
  async (folder) => {
    expect(await runArt(folder, 'whole_life.py', { wandb: withKey })).toEqual(seenLife)
  },
)

test.runIf(isNightly())('so does 0.5.18 with the wandb SDK that it pins', async () => {
  expect(await runArt('art-pinned', 'whole_life.py', { wandb: withKey })).toEqual(seenLife)
})

test.runIf(isNightly()).each(folders)(
  "ART's main job runs with WANDB_API_KEY set, with the packages of %s",
  async (folder) => {
    expect(await runArt(folder, 'main_job.py', { wandb: withKey })).toMatchObject({ step: 2, trained_steps: [1, 2] })
  },
)

const sftEvents = ['training_started', 'gradient_step', 'gradient_step', 'training_ended']
const seenOldLife = { trained_step: 1, sft_events: sftEvents, listed: [1, 2], left: [2], gone: true }

test.runIf(isNightly())(
  'ART of the oldest version with the serverless client trains, and trains SFT by address',
  async () => {
    expect(await runArt('art-oldest', 'whole_life.py', { wandb: withKey, scripts: 'art-oldest' })).toEqual(seenOldLife)
  },
)
