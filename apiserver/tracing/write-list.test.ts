import { expect, test } from 'vitest'
import { splitLongChunks, writeArray, writeLines } from './write-list.ts'

const long = JSON.stringify('x'.repeat(50_000))

async function gather(chunks: AsyncIterable<string>): Promise<string[]> {
  const gathered: string[] = []
  for await (const chunk of chunks) gathered.push(chunk)
  return gathered
}

test('an array has its items between commas', async () => {
  expect(await gather(writeArray('{"a":', ['1', '"b"'], ',"c":2}'))).toEqual(['{"a":[1,"b"],"c":2}'])
  expect(await gather(writeArray('{"a":', [], '}'))).toEqual(['{"a":[]}'])
})

test('chunks have a minimum length', async () => {
  const chunks = await gather(writeArray('', [long, long, long], ''))
  expect(chunks).toHaveLength(2)
  expect(chunks.join('')).toBe(`[${long},${long},${long}]`)
})

test('lines contain no line breaks', async () => {
  const items = ['{\n"a": "\\n",\r\n"b": 1}', '2']
  expect(await gather(writeLines(items))).toEqual(['{ "a": "\\n", "b": 1}\n2\n'])
  expect(await gather(writeLines([]))).toEqual([])
})

test('long chunks are split, but never within a character', async () => {
  const chunks = ['', 'a', `${'a'.repeat(600_000)}${'😀'.repeat(900_000)}`, `b${'😀'.repeat(600_000)}`]
  async function* give() {
    yield* chunks
  }
  const pieces = await gather(splitLongChunks(give()))
  expect(pieces.join('')).toBe(chunks.join(''))
  expect(pieces.length).toBeGreaterThan(8)
  expect(pieces.every((piece) => piece.isWellFormed() && piece.length <= 524_289)).toBe(true)
})
