import { expect, test } from 'vitest'
import { rankDestinations, readId, type Destination } from './palette.ts'

const id = '0af1bed4-69fa-474f-be16-a18cc731a38f'

test.each([
  [id, id],
  [` ${id.toUpperCase()} `, id],
  [`http://host/team/demo/jobs/${id}?a=1`, id],
  [`weave:///team/demo/call/00000000-0000-4000-8000-000000000000/${id}`, id],
  ['warm-2026', undefined],
  [id.slice(1), undefined],
])('the id in %j is %s', (text, wanted) => {
  expect(readId(text)).toBe(wanted)
})

const destination = (kind: Destination['kind'], name: string): Destination => ({ kind, name, to: `/${name}` })
const destinations = [
  destination('page', 'Runs'),
  destination('run', 'my-warm'),
  destination('run', 'warm-1'),
  destination('project', 'warm'),
]
const names = (text: string) => rankDestinations(destinations, text).map(({ name }) => name)

test('destinations have all words, and names that begin with the text come first', () => {
  expect(names('warm')).toEqual(['warm-1', 'warm', 'my-warm'])
  expect(names('run WARM')).toEqual(['my-warm', 'warm-1'])
  expect(names('')).toHaveLength(4)
  expect(names('nothing')).toEqual([])
  expect(
    rankDestinations(
      Array.from({ length: 50 }, () => destinations[0]!),
      'runs',
    ),
  ).toHaveLength(12)
})
