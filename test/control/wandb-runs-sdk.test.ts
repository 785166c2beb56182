import { describe, expect, test } from 'vitest'
import { clientTimeoutMs, newProject, runPython } from '../support/client-scripts.ts'
import { useStack } from '../support/stack.ts'

// Whole lives of runs by the unchanged SDK: see test/clients/wandb/runs.py.

const stack = useStack()
const losses = [...Array.from({ length: 30 }, (_, step) => 1 / (step + 1)), 0.001]

describe.each([
  ['0.25.0', 'wandb-oldest'],
  ['0.31.0', 'wandb'],
])('wandb %s', (version, packages) => {
  test(
    'writes runs, resumes them, and reads, finds, changes and deletes them',
    async () => {
      const project = newProject()
      const env = { WANDB_PROJECT: project }
      const facts = await runPython<Record<string, unknown>>(stack, 'runs', { packages, scripts: 'wandb', env })
      expect(facts).toMatchObject({
        version,
        starting_step: version === '0.25.0' ? expect.any(Number) : 31,
        must: 'UsageError',
        never: 'UsageError',
        run: {
          name: 'The first',
          state: 'finished',
          notes: 'some notes',
          group: 'a group',
          job_type: 'train',
          tags: ['one', 'two'],
          config: { lr: 0.5, later: true, 'dots.in': 3, optimizer: { name: 'adam', betas: [0.9, 0.99] } },
          loss: 0.001,
          best: 0.25,
          nested: 7,
          lastStep: 31,
        },
        scanned: losses,
        odd: ['NaN'],
        far: ['Infinity'],
        text: ['a \u00e9 \u{1f600} line'],
        keyed: Array.from({ length: 30 }, (_, step) => step / 30),
        pages: 32,
        history: 32,
        samples: [1, 0.125, 0.0625, 1 / 24, 0.001],
        inner: [{ _step: 30, 'nested.inner': 7 }],
        image: ['image-file'],
        system: true,
        content: 'a file of the run',
        metadata: true,
        runs: {
          all: ['first', 'failed', 'never'],
          paged: ['first', 'failed', 'never'],
          newest: ['never', 'failed', 'first'],
          by_loss: ['first', 'never', 'failed'],
          by_rate: ['never', 'first', 'failed'],
          state: ['failed'],
          config: ['first', 'never'],
          nested: ['first'],
          value: ['never'],
          or: ['first', 'failed'],
          tags: ['first'],
          summary: ['first'],
          exists: ['first'],
          not: ['failed'],
          time: ['first', 'failed', 'never'],
        },
        count: 3,
        projects: expect.arrayContaining([project]) as unknown,
        project,
        operator: expect.stringContaining('$near is not supported') as unknown,
        updated: [['one', 'two', 'three'], 'yes', 0.5, 1, 'finished'],
        left: 0,
        deleted: ['first', 'failed'],
        gone: expect.stringMatching(/Error$/) as unknown,
        unsupported: {
          sweep: expect.stringContaining('not supported') as unknown,
          reports: expect.stringContaining('not supported') as unknown,
          sweeps: expect.stringContaining('not supported') as unknown,
        },
      })
      expect(facts['files']).toEqual(
        expect.arrayContaining(['config.yaml', 'notes.txt', 'output.log', 'wandb-metadata.json', 'wandb-summary.json']),
      )
    },
    2 * clientTimeoutMs,
  )
})
