import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, runPython } from '../support/client-scripts.ts'
import { useOwnStack } from '../support/api-server.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = await useOwnStack()

test.concurrent('weave for Python gives feedback, scores calls, and finds calls by both', async () => {
  expect(await runPython(stack, 'feedback', { packages: 'weave-python' })).toEqual({
    ids_kept: true,
    listed: [
      ['wandb.reaction.1', { emoji: '👍🏽' }],
      ['wandb.note.1', { note: 'Well said. \u2028 ☂' }],
      ['my.type', { mood: { depth: 3 }, big: expect.any(Number) }],
    ],
    payload_number_kept: true,
    of_call: true,
    has_user: true,
    all: 4,
    by_reaction: ['a reader'],
    by_id: ['wandb.note.1'],
    by_query: 1,
    page: ['wandb.note.1', 'my.type'],
    score: ['wandb.runnable.vowels', { output: { vowels: 2 } }, true],
    scored_by_name: ['three', 'five'],
    scored_by_both: ['five'],
    scored_by_ref: ['five'],
    scored_by_none: 0,
    runnable: 'vowels',
    included: ['my.type', 'wandb.note.1', 'wandb.reaction.1'],
    calls_by_feedback: ['one'],
    calls_by_emoji: ['three'],
    left: ['wandb.reaction.1', 'my.type'],
    of_object: [{ note: 'of an object' }],
    refused: ['ValueError'],
    complaints: [],
  })
})

test.concurrent('weave for Python sets prices, and a call has the price at its start', async () => {
  const priced = (prompt: number, completion: number) => ({
    'tide-1': {
      prompt_tokens: 8,
      completion_tokens: 10,
      requests: 1,
      prompt_tokens_total_cost: prompt,
      completion_tokens_total_cost: completion,
    },
  })
  expect(await runPython(stack, 'costs', { packages: 'weave-python' })).toEqual({
    stored: [
      ['other', 1, 1],
      ['tide-1', 0.25, 1],
      ['tide-1', 0.5, 2],
      ['tide-1', 100, 100],
    ],
    of_model: [0.25, 0.5, 100],
    by_id: [['other', 'someone', 'USD']],
    page: 1,
    prices: [priced(2, 10), priced(2, 10), null],
    level: ['project', 'project'],
    not_asked: [null, null, null],
    one: priced(2, 10),
    after_purge: [priced(4, 20), priced(4, 20), null],
    left: 0,
    complaints: [],
  })
})

test.concurrent('weave for Python writes threads, which the server counts', async () => {
  expect(await runPython(stack, 'threads', { packages: 'weave-python' })).toEqual({
    counted: [
      ['first', 2],
      ['second', 1],
      ['nested', 1],
      ['generated', 1],
    ],
    turns: ['five', 'four', 'one', 'three', 'two'],
    of_first: ['one', 'one', 'two', 'two'],
    of_turn: ['one', 'one'],
    first_and_last: ['one', 'two'],
    durations: true,
    bounds: true,
    alone_has_none: [null, null],
    filtered: ['second'],
    newest_first: ['nested', 'second'],
    after: 3,
    complaints: [],
  })
})

test.concurrent("the spans of an agent's conversation are accepted", async () => {
  expect(await runPython(stack, 'talk', { packages: 'weave-python' })).toEqual({
    flushed: true,
    calls: ['chat tide-1', 'execute_tool look', 'invoke_agent guide'],
    complaints: [],
  })
})

const summaryOf = (mean: number, exact: number, near: number) => ({
  output: { mean },
  exact: { true_count: exact, true_fraction: exact / 5 },
  near: { near: { true_count: near, true_fraction: near / 5 } },
})

test.concurrent.each([
  ['with its defaults', {}],
  ['with separate starts and ends', { WEAVE_USE_CALLS_COMPLETE: 'false' }],
])('weave for Python evaluates models, and logs evaluations by hand, %s', async (_, env) => {
  const summaries = [summaryOf(9, 2, 4), summaryOf(13.5, 0, 1)]
  expect(await runPython(stack, 'evaluations', { packages: 'weave-python', env })).toEqual({
    summaries,
    counts: {
      'Evaluation.evaluate': 3,
      'Evaluation.predict_and_score': 13,
      'Doubler.predict': 10,
      'Near.score': 8,
      exact: 8,
      'Evaluation.summarize': 3,
      'Scorer.summarize': 2,
      'Model.predict': 3,
      doubled: 3,
    },
    read_back: summaries,
    evaluation: ['doubling', 5, 2],
    first: { output: 2, scores: { exact: true, near: { near: true } } },
    statuses: ['descendant_error', 'error', 'success'],
    status_of_evaluation: 'descendant_error',
    failed: [13, 13],
    finished: true,
    evaluations: ['doubling', 'my-data-evaluation'],
    example_rows: [1, 2, 5, 10, 13],
    scores: [
      ...Array.from({ length: 3 }, () => 'wandb.runnable.doubled'),
      ...Array.from({ length: 8 }, () => 'wandb.runnable.exact'),
      ...Array.from({ length: 8 }, () => 'wandb.runnable.near'),
    ],
    complaints: [],
  })
})
