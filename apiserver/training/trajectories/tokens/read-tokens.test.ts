import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { cutRows, readTokens } from './read-tokens.ts'

// Written by the trainer's TokenFile: row groups with the trajectories 0/0 (3 tokens), 0/1 (4) and 3/0 (2,000), and with
// the second history of 0/1 (2) and the dropped 1/0 (3). The values of a row are multiples of its number in its history.
const bytes = readFileSync(path.join(import.meta.dirname, 'token-statistics.parquet'))

function openFile() {
  const slices: [number, number][] = []
  const slice = (start: number, end = bytes.length) => {
    slices.push([start, end])
    return Uint8Array.from(bytes.subarray(start, end)).buffer
  }
  return { slices, file: { byteLength: bytes.length, slice } }
}

const read = (group: number, trajectory: number, page = { from: 0, limit: 100 }) =>
  readTokens(openFile().file, { group, trajectory }, page)

test("a trajectory's tokens come from all row groups, with all of their columns", async () => {
  expect(await read(0, 1)).toEqual({
    total: 6,
    columns: {
      gradient_step: [1, 1, 1, 1, 2, 2],
      history_index: [0, 0, 0, 0, 1, 1],
      position: [10, 11, 12, 13, 10, 11],
      token_id: [200, 201, 202, 203, 400, 401],
      old_logprob: [null, -0.75, -1, -1.25, null, -1.25],
      new_logprob: [-1, -1.5, -2, -2.5, -2, -2.5],
      ratio: [1.25, 1.375, 1.5, 1.625, 1.5, 1.625],
      coefficient: [-0.015625, -0.0234375, -0.03125, -0.0390625, -0.03125, -0.0390625],
      entropy: [0.125, 0.1875, 0.25, 0.3125, 0.25, 0.3125],
      masked: [false, false, false, false, true, true],
      clipped_low: Array(6).fill(false),
      clipped_high: [true, true, true, true, false, false],
      dropped: Array(6).fill(false),
    },
  })
})

test('a page is a range of its rows', async () => {
  const { total, columns } = await read(0, 1, { from: 3, limit: 2 })
  expect([total, columns.token_id]).toEqual([6, [203, 400]])
  const long = await read(3, 0, { from: 1_998, limit: 50_000 })
  expect([long.total, long.columns.token_id, long.columns.position]).toEqual([2_000, [2_298, 2_299], [2_008, 2_009]])
  expect((await read(3, 0, { from: 2_000, limit: 1 })).columns.ratio).toEqual([])
})

test('tokens of a dropped trajectory have only what was known before the training', async () => {
  const { columns } = await read(1, 0)
  expect(columns).toMatchObject({
    dropped: [true, true, true],
    old_logprob: [-1, -1, -1],
    gradient_step: [null, null, null],
  })
})

test('a row group without the trajectory is not read, and one that the file does not have has no rows', async () => {
  const { file, slices } = openFile()
  expect((await readTokens(file, { group: 4, trajectory: 0 }, { from: 0, limit: 1 })).total).toBe(0)
  expect(slices).toHaveLength(1)
})

test.each([
  [0, 2, [[5, 7]]],
  [
    1,
    3,
    [
      [6, 8],
      [20, 21],
    ],
  ],
  [3, 9, [[20, 22]]],
  [5, 1, []],
])('%i rows on, %i rows of 5 to 7 and 20 to 21 are %j', (from, limit, wanted) => {
  const runs = [
    { start: 5, end: 8 },
    { start: 20, end: 22 },
  ]
  expect(cutRows(runs, from, limit).map(({ start, end }) => [start, end])).toEqual(wanted)
})
