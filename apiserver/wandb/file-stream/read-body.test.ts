import { expect, test } from 'vitest'
import { readFileStream } from './read-body.ts'

const read = (body: unknown) => readFileStream(body, () => {})
const log = (chunk: object) => ({ files: { 'output.log': chunk } })

test.each<[string, object, object]>([
  ['nothing', {}, { blocks: [], preempting: false }],
  ['that it ended', { complete: true, exitcode: 3 }, { exit: { code: 3 } }],
  ['that it ended without a code', { complete: true, exitcode: '3' }, { exit: { code: 0 } }],
  ['a code that no column holds', { complete: true, exitcode: 2 ** 40 }, { exit: { code: 2 ** 31 - 1 } }],
  ['that its machine goes', { preempting: true }, { preempting: true, exit: undefined }],
  [
    'a line of output as a text',
    log({ content: 'a\0' }),
    { blocks: [{ stream: 'output', offset: 0, lines: [{ text: 'a\u{fffd}' }] }] },
  ],
  ['a file that nobody knows', { files: { 'other.txt': 7 } }, { blocks: [] }],
  [
    'a summary, of which the last one counts',
    { files: { 'wandb-summary.json': { content: ['{"a":1}', '{"a":NaN}'] } } },
    { summary: '{"a":"NaN"}' },
  ],
])('a client says about a run %s', async (_, body, expected) => {
  expect(await read(body)).toMatchObject(expected)
})

test.each<[string, unknown, string[]]>([
  ['a list', [], ['body']],
  ['files that are a text', { files: 'a' }, ['body', 'files']],
  ['a file that is a text', { files: { 'output.log': 'a' } }, ['body', 'files', 'output.log']],
  ['an offset below 0', log({ offset: -1, content: ['a'] }), ['body', 'files', 'output.log', 'offset']],
  ['an offset that no table has', log({ offset: 2 ** 40, content: ['a'] }), ['body', 'files', 'output.log', 'offset']],
  ['numbers as lines', log({ offset: 0, content: [1] }), ['body', 'files', 'output.log', 'content']],
])('what a client sends about a run is rejected with %s', async (_, body, loc) => {
  await expect(read(body)).rejects.toMatchObject({ status: 422, detail: [{ loc }] })
})
