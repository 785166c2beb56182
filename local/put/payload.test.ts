import { expect, test } from 'vitest'
import { parsePayload } from './payload.ts'

const encode = (text: string) => new TextEncoder().encode(text)

test('a payload with groups is accepted', () => {
  expect(() => parsePayload('p.json', encode('{"trajectory_groups":[{"trajectories":[]}]}'))).not.toThrow()
})

test.each([
  ['a text that is not JSON', '{', /^p\.json is not JSON/],
  ['another object', '{"groups":[]}', /^p\.json is not a training payload/],
  ['no groups', '{"trajectory_groups":[]}', /at least one group/],
  ['null', 'null', /not a training payload/],
])('%s is rejected', (_, text, sentence) => {
  expect(() => parsePayload('p.json', encode(text))).toThrow(sentence)
})

test('bytes that are not UTF-8 are rejected', () => {
  expect(() => parsePayload('p.json', new Uint8Array([0x22, 0xff, 0x22]))).toThrow(/not JSON/)
})
