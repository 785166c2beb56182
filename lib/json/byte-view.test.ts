import { expect, test } from 'vitest'
import { parseByteView } from './byte-view.ts'

const view = (text: string | Buffer, exact: string[] = []) => parseByteView(Buffer.from(text), exact, () => {})

test('a text is parsed, and texts that are not ASCII have a character for each byte', () => {
  const document = view('{"model":"m","n":1.5,"text":"aé\\u00e9"}', ['model', 'absent'])!
  expect(document.value).toEqual({ model: 'm', n: 1.5, text: 'aÃ©é' })
  expect(Buffer.from(document.members.get('text')!).toString()).toBe('"aé\\u00e9"')
})

test.each([
  ['a text that is not JSON', '{"a":}'],
  ['a text that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['a value that is not an object', '[]'],
  ['a byte order mark', '\uFEFF{"a":1}'],
  ['half of a surrogate pair', '{"a":"\\ud800"}'],
  ['a text that is used, and is not ASCII', '{"model":"é"}'],
  ['a name that is not ASCII', '{"é":1}'],
  ['too many levels', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
])('%s is left to the parser', (_, text) => {
  expect(view(text, ['model'])).toBeUndefined()
})
