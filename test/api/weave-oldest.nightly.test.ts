import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, newProject, runPython } from '../support/client-scripts.ts'
import { useOwnStack } from '../support/api-server.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = await useOwnStack()

test('weave 0.52.20 for Python reads back what it wrote, and so does the newest version', async () => {
  const project = newProject()
  const oldest = {
    packages: 'weave-python-oldest',
    scripts: 'weave-python',
    project,
    // With its cache, this version fails to read its files after a delete.
    env: { WEAVE_USE_SERVER_CACHE: 'false' },
  }
  expect(await runPython(stack, 'without_streams', oldest)).toEqual({
    feedback: [
      ['wandb.reaction.1', '👍'],
      ['my.type', null],
    ],
    reaction_id: true,
    versions: [{ temperature: 0.5 }, { temperature: 1 }, { temperature: 1 }],
    picture: [1, 2, 3],
    rows: [1000, 499_500, { number: 987, word: 'w7' }],
    grown: 1001,
    evaluation: { true_count: 1, true_fraction: 1 / 3 },
    costs: [['tide-1', 0.5]],
    calls: 17,
    roots: 5,
    failed: 1,
    costs_left: 0,
    latest_after_delete: { temperature: 0.5 },
    complaints: [],
  })
  expect(await runPython(stack, 'read_calls', { packages: 'weave-python', project })).toEqual({
    counts: {
      outer: 1,
      double: 6,
      fail: 1,
      paint: 1,
      'Evaluation.evaluate': 1,
      'Evaluation.predict_and_score': 3,
      exact: 3,
      'Evaluation.summarize': 1,
    },
    outer: ['renamed', '☂', { sum: 14, note: '☂' }],
    children: [6, 8],
    statuses: [
      ['Evaluation.evaluate', 'success'],
      ['Evaluation.predict_and_score', 'success'],
      ['Evaluation.summarize', 'success'],
      ['double', 'success'],
      ['exact', 'success'],
      ['fail', 'error'],
      ['outer', 'success'],
      ['paint', 'success'],
    ],
    threads: ['talk'],
    evaluated: { true_count: 1, true_fraction: 1 / 3 },
    picture: [1, 2, 3],
    orphans: [],
    unfinished: [],
    complaints: [],
  })
})
