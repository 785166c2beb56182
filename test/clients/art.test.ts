import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ensureArtPython } from '../support/art-python.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)

interface Seen {
  entity: string
  step: number
  trained_steps: number[]
  artifact_names: string[]
  metrics: string[]
  early_model: string
  early_name: string
  early_text: string
  early_has_logprobs: boolean
}

test("ART's ServerlessBackend registers, rolls out, trains twice, reads step 2 and infers on :step1", async () => {
  const stack = useStack()
  const python = await ensureArtPython()
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-art-'))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    TRAINYARD_URL: stack.url,
    TRAINYARD_API_KEY: stack.apiKey,
    TRAINYARD_BASE_MODEL: stack.baseModel,
    WANDB_MODE: 'disabled',
    WANDB_ERROR_REPORTING: 'false',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    HF_HUB_OFFLINE: '1',
  }
  delete env.WANDB_API_KEY
  try {
    const script = path.join(import.meta.dirname, 'art', 'main_job.py')
    const { stdout } = await run(python, [script, folder], { env, cwd: folder, maxBuffer: 16 * 1024 * 1024 })
    const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Seen
    expect(seen).toMatchObject({
      step: 2,
      trained_steps: [1, 2],
      early_model: seen.early_name,
      early_has_logprobs: true,
    })
    expect(seen.artifact_names[1]).toMatch(new RegExp(`^${seen.entity}/art-test/art-[0-9a-f]{8}:step2$`))
    expect(seen.metrics).toContain('loss/train')
    expect(seen.early_text).not.toBe('')
  } finally {
    await rm(folder, { recursive: true })
  }
})
