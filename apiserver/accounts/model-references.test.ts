import { expect, test } from 'vitest'
import { parseModelName } from './model-references.ts'

test.each([
  ['team/demo/agent', { project: 'demo', name: 'agent' }],
  ['wandb-artifact:///team/demo/agent', { project: 'demo', name: 'agent' }],
  ['demo/agent', { project: 'demo', name: 'agent' }],
  ['agent', { project: undefined, name: 'agent' }],
  ['other/demo/agent', undefined],
  ['more/team/demo/agent', undefined],
  ['demo/agent:step3', undefined],
  ['demo//agent', undefined],
  ['', undefined],
])('%s refers to a model of the entity team', (text, wanted) => {
  expect(parseModelName('team', text)).toEqual(wanted)
})
