import { expect, test } from 'vitest'
import { artifactKey, artifactUri } from './keys.ts'
import { manifestLast } from './manifest-last.ts'

test.each([
  ['artifact:///payloads/e/0a.json', 'payloads/e/0a.json'],
  ['artifact:///a', 'a'],
  [`artifact:///${'a'.repeat(200)}`, 'a'.repeat(200)],
  [`artifact:///${'a'.repeat(201)}`, undefined],
  [`artifact:///${'a/'.repeat(400)}a`, undefined],
  ['artifact://host/a', undefined],
  ['artifact:////a', undefined],
  ['artifact:///a/../b', undefined],
  ['artifact:///a/b..c', undefined],
  ['artifact:///a/.spool', undefined],
  ['artifact:///.spool/a', undefined],
  ['artifact:///a/', undefined],
  ['artifact:///a%2fb', undefined],
  ['file:///a', undefined],
  ['', undefined],
])('the key of %j is %j', (uri, key) => {
  expect(artifactKey(uri)).toBe(key)
  if (key) expect(artifactUri(key)).toBe(uri)
})

test("a folder's manifest comes last, but not other files with that name", async () => {
  async function* list() {
    for (const key of ['c/1/manifest.json', 'c/1/a', 'c/1/deep/manifest.json', 'c/1/z']) {
      yield { key, size: 1, modifiedAt: new Date(0) }
    }
  }
  const keys = (await manifestLast(list(), 'c/1/')).map(({ key }) => key)
  expect(keys).toEqual(['c/1/a', 'c/1/deep/manifest.json', 'c/1/z', 'c/1/manifest.json'])
})
