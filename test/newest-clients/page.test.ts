import { expect, test } from 'vitest'
import { clients } from './clients.ts'
import { countTests, formatTable } from './page.ts'
import { findHighest, unpin } from './python.ts'

const client = clients.find(({ name }) => name === 'openpipe-art')!

test('a client has the results of its own tests, and not those of its oldest release', () => {
  const tests = [
    { name: 'test/clients/art.test.ts: ART of art trains', status: 'passed' },
    { name: 'test/clients/art.test.ts: ART of art pulls', status: 'failed' },
    { name: 'test/clients/art.test.ts: ART of art learns', status: 'skipped' },
    { name: 'test/clients/art.test.ts: ART of the oldest version trains', status: 'passed' },
    { name: 'test/clients/agents.nightly.test.ts: by LiteLLM', status: 'passed' },
  ]
  expect(countTests(client, tests)).toEqual({ passed: 1, failed: 1 })
})

test('the table has a line for each client', () => {
  const row = { client, tested: '0.5.23', newest: '0.5.24', on: 'Python 3.13.0', passed: 9, failed: 1 }
  expect(formatTable([row]).split('\n')).toEqual([
    '| client | from | tested | newest | on | passed | failed |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    '| openpipe-art | PyPI | 0.5.23 | 0.5.24 | Python 3.13.0 | 9 | 1 |',
  ])
})

test('exact versions are no longer required, and bounds are', () => {
  expect(unpin('strands-agents[openai]==1.62.0\nopenai<3\nwandb\n')).toBe('strands-agents[openai]\nopenai<3\nwandb\n')
})

test('the highest version is found by its numbers', () => {
  expect(findHighest(['0.5.9', undefined, '0.5.23', '0.5.18'])).toBe('0.5.23')
})
