import { expect, test } from 'vitest'
import { readInputAddress, type InputAddress } from './address.ts'

const artifact = { kind: 'artifact', entity: 'team', project: 'proj', name: 'data' } as const

test.each<[string, InputAddress]>([
  ['wandb-artifact:///team/proj/data:v0', { ...artifact, version: 0 }],
  ['wandb-artifact:///team/proj/data:v12', { ...artifact, version: 12 }],
  ['wandb-artifact:///team/proj/data:latest', { ...artifact, version: 'latest' }],
  ['wandb-artifact:///team/proj/data', { ...artifact, version: 'latest' }],
  ['artifact:///payloads/team/a.json', { kind: 'stored', uri: 'artifact:///payloads/team/a.json' }],
  ['https://example.com/a?b', { kind: 'web', url: 'https://example.com/a?b' }],
  ['HTTP://example.com/a', { kind: 'web', url: 'HTTP://example.com/a' }],
  ['s3://bucket/a/b=1/c d+é.jsonl'.replace(' ', '-'), { kind: 's3', bucket: 'bucket', key: 'a/b=1/c-d+é.jsonl' }],
])('%s', (address, expected) => {
  expect(readInputAddress(address)).toEqual(expected)
})

test.each([
  '',
  'data',
  '/etc/passwd',
  'file:///etc/passwd',
  'ftp://example.com/a',
  'gs://bucket/a',
  'wandb-artifact://team/proj/data:v0',
  'wandb-artifact:///team/proj',
  'wandb-artifact:///team/proj/data/more',
  'wandb-artifact:///team/proj/data:',
  'wandb-artifact:///team/proj/data:step1',
  'wandb-artifact:///team/proj/data:v01',
  'wandb-artifact:///team/proj/data:v99999999999',
  'wandb-artifact:///team/proj/data:v0:v1',
  'wandb-artifact:///team/../data:v0',
  'wandb-artifact:///team/proj/da\0ta:v0',
  'wandb-artifact:///team/proj/data:v0\n',
  's3://bucket',
  's3://bucket/',
  's3://BUCKET/a',
  's3://bucket/../a',
  's3://bucket/a/./b',
  's3://user@bucket/a',
  's3://bucket/a?versionId=1',
  's3://bucket/a\\b',
  's3://bucket/a\0',
  `https://example.com/${'a'.repeat(4096)}`,
])('%j is rejected', (address) => {
  expect(() => readInputAddress(address)).toThrow(
    expect.objectContaining({ name: 'InputError', reason: 'InputNotAllowed' }),
  )
})
