import { expect, test } from 'vitest'
import { findSimilarNames } from './similar-names.ts'

const names = ['team/proj/agent', 'team/other/agent-2', 'team/proj/judge', 'team/proj/agents', 'trainyard/tiny-chat']

test.each([
  ['agent', ['team/proj/agent', 'team/proj/agents', 'team/other/agent-2']],
  ['somebody/else/agent', ['team/proj/agent', 'team/proj/agents', 'team/other/agent-2']],
  ['wandb-artifact:///team/proj/agnet:step3', ['team/proj/agent']],
  ['Tiny-Chat', ['trainyard/tiny-chat']],
  ['team/proj/juge:latest', ['team/proj/judge']],
  ['gpt-4o', []],
  ['', []],
  ['wandb-artifact:///', []],
])('%j', (requested, expected) => {
  expect(findSimilarNames(requested, names)).toEqual(expected)
})

test('a very long name is compared by its beginning', () => {
  expect(findSimilarNames('a'.repeat(1_000_000), [`team/proj/${'a'.repeat(50)}`])).toHaveLength(1)
})
