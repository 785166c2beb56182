import { expect, test } from 'vitest'
import { useOwnStack } from '../support/api-server.ts'
import { newProject, runPython } from '../support/client-scripts.ts'

const stack = await useOwnStack()
// From two gibibytes on, the SDK sends a file in parts.
const mebibytes = 2_049

test('a file that the wandb SDK sends in parts comes back', { timeout: 1_800_000 }, async () => {
  const env = {
    WANDB_PROJECT: newProject(),
    WANDB_BASE_URL: stack.url,
    WANDB_API_KEY: stack.apiKey,
    MEBIBYTES: String(mebibytes),
  }
  const facts = await runPython(stack, 'large_file', { packages: 'wandb', scripts: 'wandb', env })
  expect(facts).toEqual({ bytes: mebibytes * 1024 * 1024, same: true })
})
