import { expect, test } from 'vitest'
import { findMissingGroup, groupNames, readGroups, type GroupName } from './groups.ts'

test.each<[string, GroupName[]]>([
  ['inference', ['inference']],
  [' tracing , training ', ['training', 'tracing']],
  ['inference,inference', ['inference']],
  [groupNames.join(','), [...groupNames]],
])('"%s" names %j', (text, names) => {
  expect([...readGroups(text)]).toEqual(names)
})

test.each(['', ',', 'inference,', 'all', 'Inference', 'inference tracing'])('"%s" names no groups', (text) => {
  expect(() => readGroups(text)).toThrow(
    'TRAINYARD_GROUPS must be one or more of training, inference, tracing, console,',
  )
})

test.each<[string, GroupName | undefined]>([
  ['/v1/chat/completions', 'inference'],
  ['/V1/Models/a/b/c', 'inference'],
  ['/detokenize', 'inference'],
  ['/v1/preview/models', 'training'],
  ['/v1/preview/projects/x/trace-retention', 'tracing'],
  ['/v1/preview/projects/x/calls/to-dataset', 'tracing'],
  ['/v1/preview/models/x/to-dataset', 'tracing'],
  ['/v1/preview/projects/x', 'training'],
  ['/traces', 'tracing'],
  ['/traces/completions/create', 'tracing'],
  ['/calls/query', 'tracing'],
  ['/trace/usage', 'tracing'],
  ['/v1/preview/keys', undefined],
  ['/v1/health', undefined],
  ['/callsign', undefined],
  ['/graphql', 'training'],
  ['/files/team/project/run/file_stream', 'training'],
  ['/files/content', 'tracing'],
])('without any group, %s is a path of %s', (path, group) => {
  expect(findMissingGroup(new Set(), path)).toBe(group)
  expect(findMissingGroup(new Set(groupNames), path)).toBeUndefined()
})

test.each(['/graphql', '/traces/graphql'])('%s needs training or tracing', (path) => {
  const missing = groupNames.map((name) => findMissingGroup(new Set([name]), path))
  expect(missing).toEqual([undefined, 'training', undefined, 'training'])
})

test('completions of tracing need engines too', () => {
  expect(findMissingGroup(new Set(['tracing']), '/completions/create')).toBe('inference')
})
