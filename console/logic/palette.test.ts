import { expect, test } from 'vitest'
import { rankPlaces, readId, type Place } from './palette.ts'

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

const place = (kind: Place['kind'], name: string): Place => ({ kind, name, to: `/${name}` })
const places = [place('page', 'Runs'), place('run', 'my-warm'), place('run', 'warm-1'), place('project', 'warm')]
const names = (text: string) => rankPlaces(places, text).map(({ name }) => name)

test('places have all words, and names that begin with the text come first', () => {
  expect(names('warm')).toEqual(['warm-1', 'warm', 'my-warm'])
  expect(names('run WARM')).toEqual(['my-warm', 'warm-1'])
  expect(names('')).toHaveLength(4)
  expect(names('nothing')).toEqual([])
  expect(
    rankPlaces(
      Array.from({ length: 50 }, () => places[0]!),
      'runs',
    ),
  ).toHaveLength(12)
})
