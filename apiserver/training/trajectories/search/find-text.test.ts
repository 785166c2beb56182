import { expect, test } from 'vitest'
import type { TrajectoryRow } from '../../../../db/trajectories/trajectories.ts'
import { findText } from './find-text.ts'
import { maxTrajectoryBytes, planReads } from './plan-reads.ts'

const find = (text: string, ...items: unknown[]) =>
  findText({
    payloads: [Buffer.from(JSON.stringify({ messages_and_choices: items }))],
    model: 'team/demo/agent',
    text,
  })[0]!
const turnsOf = (text: string, ...items: unknown[]) => find(text, ...items).map(({ turn, role }) => `${turn} ${role}`)

test('a text is found in messages, answers, reasoning and tool calls', () => {
  const called = { role: 'assistant', tool_calls: [{ function: { name: 'look_up', arguments: '{"city":"Oslo"}' } }] }
  expect(turnsOf('oslo', { role: 'user', content: 'Where is OSLO?' }, { message: called }, called)).toEqual([
    '0 user',
    '1 assistant',
    '2 assistant',
  ])
  expect(turnsOf('thought', { message: { content: null, reasoning_content: 'a thought' } })).toEqual(['0 assistant'])
  expect(turnsOf('part', { role: 'user', content: [{ type: 'text', text: 'a part' }, { type: 'image_url' }] })).toEqual(
    ['0 user'],
  )
})

test('a match has what is around it, as it is written', () => {
  const [match] = find('Straße', { role: 'user', content: `${'a'.repeat(100)} die straße ${'b'.repeat(100)}` })
  expect(match).toEqual({
    turn: 0,
    role: 'user',
    before: `${'a'.repeat(55)} die `,
    text: 'straße',
    after: ` ${'b'.repeat(59)}`,
  })
  expect(find('a', { role: 'user', content: 'a a a a a' })).toHaveLength(3)
})

test('what nobody has said is not found', () => {
  const logprobs = { content: [{ token: 'red', logprob: -1, top_logprobs: [{ token: 'blue', logprob: -2 }] }] }
  expect(find('blue', { message: { role: 'assistant', content: 'red' }, logprobs })).toEqual([])
  expect(find('role', { role: 'user', content: 'text' })).toEqual([])
  expect(find('.', { role: 'user', content: 'no dots' })).toEqual([])
  for (const odd of [
    null,
    'text',
    7,
    [],
    { message: null },
    { message: { content: 7, tool_calls: [null, { function: 7 }] } },
  ])
    expect(find('text', odd)).toEqual([])
})

const row = (payloadUri: string, payloadOffset: number, payloadLength: number) =>
  ({ payloadUri, payloadOffset, payloadLength }) as TrajectoryRow
const summary = (rows: TrajectoryRow[], budget = 2 * maxTrajectoryBytes) => {
  const { reads, planned } = planReads(rows, budget)
  return [planned, reads.map(({ uri, start, end, rows: own }) => `${uri} ${start}-${end}: ${own.length}`)]
}

test('neighbours are read together, up to a bound', () => {
  expect(summary([row('a', 10, 5), row('a', 16, 4), row('b', 0, 7)])).toEqual([3, ['a 10-20: 2', 'b 0-7: 1']])
  expect(summary([row('a', 16, 4), row('a', 10, 5)])).toEqual([2, ['a 16-20: 1', 'a 10-15: 1']])
  const half = maxTrajectoryBytes / 2 + 1
  expect(summary([row('a', 0, half), row('a', half, half)])[1]).toHaveLength(2)
})

test('too large ones are skipped, and a page ends at its budget', () => {
  expect(summary([row('a', 0, maxTrajectoryBytes + 1), row('a', maxTrajectoryBytes + 2, 3)])[1]).toHaveLength(1)
  expect(summary([row('a', 0, 60), row('b', 0, 50), row('c', 0, 1)], 100)[0]).toBe(1)
  expect(summary([row('a', 0, 200), row('b', 0, 50)], 100)[0]).toBe(1)
})
