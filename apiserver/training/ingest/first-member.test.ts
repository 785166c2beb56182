import { expect, test } from 'vitest'
import { watchForModelId } from './first-member.ts'

async function look(...chunks: string[]): Promise<string[]> {
  const found: string[] = []
  const watch = watchForModelId(async (modelId) => void found.push(modelId))
  for (const chunk of chunks) await watch(Buffer.from(chunk))
  return found
}

test.each<[string, string[], string[]]>([
  ['first', ['{"model_id":"a-b","trajectory_groups":[', ']}'], ['a-b']],
  ['first, with spaces', [' {\n "model_id" :\t"a" , '], ['a']],
  ['first, in small pieces', '{"model_id": "abc","model_id":"d"}'.split(''), ['abc']],
  ['not first', ['{"trajectory_groups":[],', '"model_id":"a"}'], []],
  ['that is not a text', ['{"model_id":7}'], []],
  ['written with escapes', [String.raw`{"model_id":"\u0061"}`], []],
  ['that never ends', ['{"model_id":"', 'a'.repeat(5_000), '"}'], []],
  ['in a body that is not an object', ['[]'], []],
])('a model_id %s', async (_name, chunks, expected) => {
  expect(await look(...chunks)).toEqual(expected)
})
