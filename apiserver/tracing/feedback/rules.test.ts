import { expect, test } from 'vitest'
import { writeJsonText } from '../../../lib/json/json-text.ts'
import { checkFeedback } from './rules.ts'
import type { WireFeedback } from './schema.ts'

type Members = Partial<Omit<WireFeedback, 'payload'>> & { payload?: object }

const check = ({ payload = { a: 1 }, ...more }: Members) =>
  checkFeedback(
    {
      project_id: 'team/p',
      weave_ref: 'weave:///team/p/call/c',
      feedback_type: 'custom',
      payload: writeJsonText(payload),
      ...more,
    },
    'team/p',
  )

const ref = (kind: string, name = 'a') => `weave:///team/p/${kind}/${name}:d`
const call = 'weave:///team/p/call/c'
const reaction = (payload: object): Members => ({ feedback_type: 'wandb.reaction.1', payload })
const note = (payload: object): Members => ({ feedback_type: 'wandb.note.1', payload })
const annotation = (more: Members): Members => ({ feedback_type: 'wandb.annotation.a', payload: { value: 1 }, ...more })
const score = (more: Members): Members => ({ feedback_type: 'wandb.runnable.a', payload: { output: 1 }, ...more })

test.each<[string, Members]>([
  ...['👍🏽', '❤', '👩🏿‍❤️‍💋‍👨🏻', '🇩🇪', '1️⃣', 'ok 👍'].map((emoji): [string, Members] => [
    `the reaction ${emoji}`,
    reaction({ emoji }),
  ]),
  ['a note of 1,024 characters', note({ note: '👍'.repeat(1_024) })],
  ['a score of an op, with its call', score({ runnable_ref: ref('op'), call_ref: call, trigger_ref: ref('object') })],
  ['a score of an object, without a call', score({ runnable_ref: ref('object'), call_ref: null })],
  ['a type of another kind', { feedback_type: 'wandb.other' }],
])('feedback may be %s', (_, more) => {
  expect(check(more)).not.toHaveProperty('annotation')
})

test('an annotation has a value, which its specification must allow', () => {
  const annotation_ref = ref('object')
  expect(check(annotation({ annotation_ref }))).toEqual({
    payload: '{"value":1}',
    annotation: { ref: annotation_ref, value: '1' },
  })
})

test.each<[string, Members, string]>([
  ['a reaction with letters', reaction({ emoji: 'ok' }), 'exactly one emoji'],
  ['a reaction with two emoji', reaction({ emoji: '👍👍' }), 'exactly one emoji'],
  ['a reaction with a digit', reaction({ emoji: '1' }), 'exactly one emoji'],
  ['a reaction without emoji', reaction({}), 'emoji should be a valid string'],
  ['a reaction with a number', reaction({ emoji: 1 }), 'emoji should be a valid string'],
  ['an empty note', note({ note: '' }), 'at least 1 character'],
  ['a long note', note({ note: 'x'.repeat(1_025) }), 'at most 1024 characters'],
  ['a note that is not a text', note({ note: null }), 'note should be a valid string'],
  ['an annotation without a name', annotation({ feedback_type: 'wandb.annotation' }), 'Invalid feedback type: wandb.a'],
  ['an annotation without its spec', annotation({}), 'annotation_ref is required'],
  ['an annotation with another spec', annotation({ annotation_ref: ref('object', 'b') }), 'with name a'],
  ['an annotation with an op as its spec', annotation({ annotation_ref: ref('op') }), 'of kind object'],
  [
    "an annotation with another project's spec",
    annotation({ annotation_ref: 'weave:///team/other/object/a:d' }),
    'must be of the project team/p',
  ],
  ['an annotation without a value', annotation({ annotation_ref: ref('object'), payload: {} }), 'value is required'],
  ['another type with an annotation reference', { annotation_ref: ref('object') }, 'not allowed for non-annotation'],
  ['a score without a name', score({ feedback_type: 'wandb.runnables' }), 'Invalid feedback type: wandb.runnables'],
  ['a score without its scorer', score({}), 'runnable_ref is required'],
  ['a score with another scorer', score({ runnable_ref: ref('object', 'b') }), 'with name a'],
  ['a score with a call as its scorer', score({ runnable_ref: call }), 'of kind op or object'],
  ['a score of an op without its call', score({ runnable_ref: ref('op') }), 'call_ref is required'],
  ['a score without output', score({ runnable_ref: ref('object'), payload: {} }), 'output is required'],
  [
    'a score with an object for its call',
    score({ runnable_ref: ref('object'), call_ref: ref('object') }),
    'Invalid call_ref: it must be of kind call',
  ],
  [
    'a score with a broken trigger',
    score({ runnable_ref: ref('object'), trigger_ref: 'nothing' }),
    'Invalid ref: nothing',
  ],
  ['another type with a scorer', { runnable_ref: ref('object') }, 'runnable_ref is not allowed'],
  ['another type with a call', { call_ref: call }, 'call_ref is not allowed'],
  ['another type with a trigger', { trigger_ref: ref('object') }, 'trigger_ref is not allowed'],
  ['a payload of more than a megabyte', { payload: { a: 'x'.repeat(1024 * 1024) } }, 'payload too large'],
  ['a reference that is too long', { weave_ref: 'x'.repeat(2_001) }, 'weave_ref: it is too long'],
  ['a creator that is too long', { creator: 'x'.repeat(2_001) }, 'creator: it is too long'],
  ['a type that is too long', { feedback_type: 'ü'.repeat(251) }, 'feedback_type: it is too long'],
])('feedback is rejected if it is %s', (_, more, reason) => {
  expect(() => check(more)).toThrow(
    expect.objectContaining({ status: 400, detail: expect.stringContaining(reason) as string }),
  )
})
