import { expect, test } from 'vitest'
import { mergeProjects } from './merge.ts'

const at = (time: number) => new Date(time).toISOString()
const trained = (name: string, day: number) => ({ name, createdAt: new Date(day), models: 1, runs: 2, dataSets: 3 })

test('a project of both lists is there once, as old as the older one, and names are ordered by their bytes', () => {
  const projects = mergeProjects(
    [trained('B', 5), trained('a', 5)],
    [
      { name: 'a', createdAt: at(1) },
      { name: '\uffee', createdAt: at(9) },
      { name: '😀', createdAt: at(9) },
    ],
    4,
  )
  const none = { models: 0, runs: 0, dataSets: 0, createdAt: new Date(9), hasTraces: true }
  expect(projects).toEqual([
    { ...trained('B', 5), hasTraces: false },
    { ...trained('a', 1), hasTraces: true },
    { name: '\uffee', ...none },
    { name: '😀', ...none },
  ])
})

test('no more than asked for', () => {
  expect(mergeProjects([trained('b', 1)], [{ name: 'a', createdAt: at(1) }], 1).map(({ name }) => name)).toEqual(['a'])
})

test('without the list of traces it is not known what has traces', () => {
  expect(mergeProjects([trained('a', 1)], undefined, 4)).toEqual([{ ...trained('a', 1), hasTraces: null }])
})
