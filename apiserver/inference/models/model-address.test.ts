import { expect, test } from 'vitest'
import { parseModelAddress } from './model-address.ts'

const model = { entity: 'team', project: 'proj', name: 'agent-1.0' }

test.each([
  ['team/proj/agent-1.0', { ...model, step: null, alias: null }],
  ['wandb-artifact:///team/proj/agent-1.0', { ...model, step: null, alias: null }],
  ['wandb-artifact:///team/proj/agent-1.0:latest', { ...model, step: null, alias: null }],
  ['wandb-artifact:///team/proj/agent-1.0:step0', { ...model, step: 0, alias: null }],
  ['team/proj/agent-1.0:step12', { ...model, step: 12, alias: null }],
  ['team/proj/agent-1.0:prod', { ...model, step: null, alias: 'prod' }],
  ['team/proj/agent-1.0:v2-beta', { ...model, step: null, alias: 'v2-beta' }],
  ['team/proj/agent-1.0:Latest', undefined],
  ['team/proj/agent-1.0:1st', undefined],
  ['team/proj/agent-1.0:prod\n', undefined],
  ['team/proj/agent-1.0:step01', undefined],
  ['team/proj/agent-1.0:step-1', undefined],
  ['team/proj/agent-1.0:step9999999999', undefined],
  ['team/proj/agent-1.0:step', undefined],
  ['team/proj/agent-1.0:v0', undefined],
  ['team/proj/agent-1.0:', undefined],
  ['team/proj', undefined],
  ['team/proj/agent/1', undefined],
  ['team//agent', undefined],
  ['../../etc', undefined],
  ['wandb-artifact://team/proj/agent', undefined],
  ['team/proj/agent\n', undefined],
  ['team/proj/a\0b', undefined],
  ['', undefined],
])('%j', (text, expected) => {
  expect(parseModelAddress(text)).toEqual(expected)
})
