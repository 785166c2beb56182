import { expect, test } from 'vitest'
import { BinaryRows } from './binary-copy.ts'

/** Returns the bytes between the header and the trailer. */
function write(fill: (rows: BinaryRows) => void): Buffer {
  const rows = new BinaryRows()
  fill(rows)
  return rows.finish().subarray(19, -2)
}

test.each([
  ['of this day', '2026-11-21T10:11:12.345678Z', 848_571_072_345_678n],
  ['at the epoch of Postgres', '2000-01-01T00:00:00.000000Z', 0n],
  ['before that', '1999-12-31T23:59:59.999999Z', -1n],
  ['long ago', '0001-01-01T00:00:00.000000Z', -63_082_281_600_000_000n],
  ['the last', '9999-12-31T23:59:59.999999Z', 252_455_615_999_999_999n],
  ['long ago, not at the beginning of a day', '0001-01-01T00:00:00.000001Z', -63_082_281_599_999_999n],
])('a time: %s', (_, time, micros) => {
  const field = write((rows) => rows.instant(time))
  expect([field.readInt32BE(), field.readBigInt64BE(4)]).toEqual([8, micros])
})

test('times of several days in sequence', () => {
  const times = ['2026-11-21T23:59:59.999999Z', '2026-11-22T00:00:00.000000Z', '2026-11-21T00:00:00.000001Z']
  const fields = write((rows) => times.forEach((time) => rows.instant(time)))
  const micros = times.map((_, index) => Number(fields.readBigInt64BE(index * 12 + 4)))
  expect(micros.map((value) => value - micros[0]!)).toEqual([0, 1, -86_399_999_998])
})

test('a row of each kind of field', () => {
  const row = write((rows) => {
    rows.row(7)
    rows.null()
    rows.smallint(-2)
    rows.int(-3)
    rows.bigint(2 ** 40 + 5)
    rows.boolean(true)
    rows.text('ä')
    rows.texts(['a', ''])
  })
  const words = ['0007', 'ffffffff', '00000002fffe', '00000004fffffffd', '000000080000010000000005', '0000000101']
  const texts = ['00000002c3a4', '0000001d', '000000010000000000000019', '0000000200000001', '0000000161', '00000000']
  expect(row.toString('hex')).toBe([...words, ...texts].join(''))
})

test('rows that are larger than the first buffer', () => {
  const text = 'é'.repeat(100_000)
  const fields = write((rows) => {
    rows.text(text)
    rows.bytes(Buffer.from(text))
  })
  const field = Buffer.concat([Buffer.from([0, 3, 0x0d, 0x40]), Buffer.from(text)])
  expect(fields.equals(Buffer.concat([field, field]))).toBe(true)
})
