import { setImmediate } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { HttpError } from './http-error.ts'
import { readForm, type FormRules } from './multipart.ts'

const headers = { 'content-type': 'multipart/form-data; boundary=B' }
const part = (field: string, text: string, more = '') =>
  `--B\r\nContent-Disposition: form-data; name="${field}"${more}\r\n\r\n${text}\r\n`
const file = (name: string, text: string, field = 'file') => part(field, text, `; filename="${name}"`)
const end = '--B--\r\n'
const full = new HttpError({ code: 'store_full', status: 507, sentence: 'full', retry: 'no' })

/** The stored files that were not removed. */
let stored: string[] = []

const rules: FormRules<string> = {
  limits: { files: 3, fields: 3, parts: 5, fieldSize: 10 },
  textFields: ['title'],
  reasons: { fieldTooLong: (field) => `${field} is long`, tooManyParts: 'many parts' },
  store: async (name, bytes) => {
    const kept = `${name}=${await readText(bytes)}`
    if (kept.endsWith('=full')) throw full
    if (kept.endsWith('=lost')) throw new TypeError('lost')
    stored.push(kept)
    return kept
  },
  remove: async (kept) => {
    await setImmediate()
    stored = stored.filter((one) => one !== kept)
  },
}
const oneFile = { ...rules, fileField: 'file' }

const readText = async (bytes: Readable) => (await buffer(bytes)).toString()

async function* inChunks(text: string, size = 7): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; start += size) {
    await setImmediate()
    yield Buffer.from(text.slice(start, start + size))
  }
}

async function read(body: string, with_: FormRules<string> = rules) {
  stored = []
  const { files, texts } = await readForm(headers, inChunks(body), with_)
  return { files, texts: Object.fromEntries(texts) }
}

test.each<[string, string, FormRules<string>, { files: string[]; texts?: object }]>([
  ['every file is stored', file('a', '1') + file('b', '2', 'other'), rules, { files: ['a=1', 'b=2'] }],
  ['only the wanted text is kept', part('title', 't') + part('x', 'y'), rules, { files: [], texts: { title: 't' } }],
  ['only the wanted file is stored', file('a', '1', 'x') + file('b', '2'), oneFile, { files: ['b=2'] }],
  ['the wanted file needs no name', part('file', '1'), oneFile, { files: ['file=1'] }],
  ['without the rule a part without a name is a text', part('file', '1'), rules, { files: [] }],
  ['a name loses its folders', file('d/a', '1'), rules, { files: ['a=1'] }],
  ['a name keeps its folders on request', file('d/a', '1'), { ...rules, preservePath: true }, { files: ['d/a=1'] }],
])('%s', async (_, body, with_, { files, texts = {} }) => {
  expect(await read(body + end, with_)).toEqual({ files, texts })
  expect(stored).toEqual(files)
})

test.each<[string, string, FormRules<string>, string]>([
  ['a form that ends too early', file('a', '1') + file('b', '2').slice(0, -3), rules, 'the form is incomplete'],
  ['a form that ends in a skipped file', file('a', '1') + file('b', '2', 'x'), oneFile, 'the form is incomplete'],
  ['a body that is not a form', 'hello', rules, 'the form is incomplete'],
  ['a long field', file('a', '1') + part('x', '12345678901') + end, rules, 'x is long'],
  ['too many files', file('a', '1').repeat(4) + end, rules, 'many parts'],
  ['too many fields', file('a', '1') + part('x', '1').repeat(4) + end, rules, 'many parts'],
  ['a second file', file('a', '1') + file('b', '2') + end, oneFile, 'the form has more than one file'],
])('%s is an error, and no file stays stored', async (_, body, with_, reason) => {
  const msg = `Value error, the form cannot be read: ${reason}`
  await expect(read(body, with_)).rejects.toMatchObject({ status: 422, detail: [{ loc: ['body'], msg }] })
  expect(stored).toEqual([])
})

test('a Content-Type without a boundary is an error', async () => {
  const reading = readForm({ 'content-type': 'multipart/form-data' }, inChunks(''), rules)
  await expect(reading).rejects.toMatchObject({ message: expect.stringContaining('names no boundary') as string })
})

test.each(['full', 'lost'])('errors of the store are thrown, and no file stays stored: %s', async (text) => {
  const reading = read(file('a', '1') + file('b', text) + end)
  await expect(reading).rejects.toThrow(text)
  expect(stored).toEqual([])
})

test('an error of the store ends the reading before the body ends', async () => {
  let sent = 0
  async function* chunks() {
    for await (const chunk of inChunks(file('a', 'full') + file('b', '2'.repeat(10_000)) + end)) {
      sent += chunk.length
      yield chunk
    }
  }
  await expect(readForm(headers, chunks(), rules)).rejects.toBe(full)
  expect(sent).toBeLessThan(1000)
})

test('an error of the body is thrown unchanged', async () => {
  const broken = new Error('the connection is gone')
  async function* chunks() {
    yield* inChunks(file('a', '1') + file('b', '2').slice(0, -3))
    throw broken
  }
  stored = []
  await expect(readForm(headers, chunks(), rules)).rejects.toBe(broken)
  expect(stored).toEqual([])
})
