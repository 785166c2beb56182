import { expect, test } from 'vitest'
import {
  folderOf,
  folderOfTraces,
  isTrainingData,
  keyOf,
  locate,
  patternOf,
  sqlKey,
  sqlPart,
  sqlUri,
  uriPrefixOf,
} from './layout.ts'

const id = '0190b5a4-7d3c-7e10-8f00-0123456789ab'

test('keys have all parts, and folders the given ones', () => {
  expect(keyOf('checkpoint', { checkpoint: id })).toBe(`checkpoints/${id}`)
  expect(keyOf('payload', { entity: 'team', digest: 'ab' })).toBe('payloads/team/ab.json')
  expect(keyOf('call', { entity: 'team', project: 7, name: 'n' })).toBe('traces/team/7/calls/n')
  expect(folderOf('progress', { job: id })).toBe(`progress/${id}`)
  expect(folderOf('upload', { entity: 'team' })).toBe('uploads/team')
  expect(folderOfTraces('team', 7)).toBe('traces/team/7')
  expect(uriPrefixOf('payload')).toBe('artifact:///payloads/')
})

test('a folder contains only keys with its parts, for any characters in them', () => {
  expect(folderOf('upload', { entity: 'a{b}' })).toBe('uploads/a{b}')
  expect(folderOf('payload', { entity: '$&{digest}' })).toBe('payloads/$&{digest}')
})

test.each([
  [`checkpoints/${id}/adapter.safetensors`, 'checkpoint', `checkpoints/${id}`],
  [`progress/${id}/${id}/manifest.json`, 'progress', `progress/${id}/${id}`],
  [`token-statistics/${id}.parquet`, 'statistics', `token-statistics/${id}.parquet`],
  ['payloads/team/ab.json', 'payload', 'payloads/team/ab.json'],
  ['artifacts/team/ab', 'blob', 'artifacts/team/ab'],
  ['uploads/team/ab/00001', 'upload', 'uploads/team/ab'],
  ['traces/team/12/calls/ab', 'call', 'traces/team/12/calls/ab'],
  ['traces/team/12/files/ab', 'traceFile', 'traces/team/12/files/ab'],
])('%s is a %s', (key, kind, prefix) => {
  expect(locate(key)).toEqual({ kind, prefix })
})

test.each([
  `checkpoints/${id}`,
  `checkpoints/${id}0/x`,
  `token-statistics/${id}-parquet`,
  'payloads/team/ab.json/x',
  'traces/team/x/calls/ab',
  'else/where',
])('%s has no kind', (key) => {
  expect(locate(key)).toBeUndefined()
})

test('training data must belong to the same entity', () => {
  expect(isTrainingData('payloads/team/ab.json', 'team')).toBe(true)
  expect(isTrainingData('artifacts/team/ab', 'team')).toBe(true)
  expect(isTrainingData('payloads/team2/ab.json', 'team')).toBe(false)
  expect(isTrainingData('uploads/team/ab/1', 'team')).toBe(false)
})

test('SQL and patterns match the same keys', () => {
  expect(sqlKey('blob', { entity: 'b.entity', object: 'b.digest' })).toBe(
    `('artifacts/' || b.entity || '/' || b.digest)`,
  )
  expect(sqlKey('payload', { entity: '$1', digest: 'd' })).toBe(`('payloads/' || $1 || '/' || d || '.json')`)
  expect(sqlPart('statistics', 'checkpoint', 'prefix')).toBe(
    `substring(prefix FROM '^token-statistics/([^/]+)\\.parquet')`,
  )
  expect(sqlUri('key')).toBe(`('artifact:///' || key)`)
  expect(patternOf('statistics')).toMatch(/^token-statistics\/\[0-9a-f\].*\\\.parquet$/)
})
