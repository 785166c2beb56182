import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { installGoTool } from '../support/go-tool.ts'
import { readBake, repository } from '../support/images/bake.ts'

const run = promisify(execFile)
const folder = path.join(repository, '.github/workflows')
const files = readdirSync(folder).map((name) => path.join(folder, name))

interface Workflow {
  jobs: Record<string, Job>
}

interface Job {
  uses?: string
  with?: Record<string, string>
  needs?: string
  steps?: Step[]
  strategy?: { matrix: { image: string[] } }
}

interface Step {
  uses?: string
  run?: string
  env?: Record<string, string>
}

function readWorkflow(name: string): Workflow {
  return parse(readFileSync(path.join(folder, name), 'utf8')) as Workflow
}

test('actionlint finds nothing in the workflows', async () => {
  const tool = { program: 'actionlint', package: 'github.com/rhysd/actionlint/cmd/actionlint', folder: 'lint-tools' }
  const program = await installGoTool(tool)
  const { stdout } = await run(program, ['-no-color', ...files]).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})

test('actions of others are pinned to commits, and the line says which version that is', () => {
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').match(/uses: [^.\s].*/g) ?? [])
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.filter((line) => !/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
})

test('each night, all files run with a seed that is far from that of every other night', () => {
  const { test: nightly } = readWorkflow('nightly.yaml').jobs
  expect(nightly).toEqual({ uses: './.github/workflows/ci.yaml', with: { seed: '${{ github.run_number }}000' } })
  expect(readWorkflow('ci.yaml').jobs['test']?.steps?.at(-1)).toEqual({
    run: '.ci/run',
    env: { TRAINYARD_TEST_SEED: '${{ inputs.seed }}', TRAINYARD_TEST_NIGHTLY: "${{ inputs.seed && '1' }}" },
  })
})

test('parts of their own build the images and run the chart on a kubelet, as root', () => {
  const { images, kubelet } = readWorkflow('ci.yaml').jobs
  const commands = [images, kubelet].map((job) => job?.steps?.at(-1)?.run)
  expect(commands).toEqual(['images', 'kubelet'].map((name) => `sudo --preserve-env=PATH npm test -- ${name}`))
})

test('a release tests first, builds all images only from bases with digests, and signs what it has pushed', () => {
  const { images, chart } = readWorkflow('release.yaml').jobs
  expect([images?.needs, chart?.needs]).toEqual(['test', 'images'])
  expect(images?.strategy?.matrix.image).toEqual(readBake().group.default.targets)
  const order = ['npm run images:pin -- --check', 'docker buildx bake', 'cosign sign']
  const steps = images?.steps ?? []
  const positions = order.map((command) => steps.findIndex((step) => step.run?.includes(command)))
  expect(positions).not.toContain(-1)
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
})
