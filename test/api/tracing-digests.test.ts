import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestValue } from '../../apiserver/tracing/digests.ts'
import { toPythonJson } from '../../lib/json/python.ts'
import { parseValue } from '../../lib/json/value.ts'
import { readLocalConfig } from '../../local/config.ts'
import { findPython } from '../../local/install/python.ts'
import { chooseCases } from '../support/random-cases.ts'

const dump = `
import base64, hashlib, json, sys
for line in sys.stdin.buffer:
    text = json.dumps(json.loads(line), sort_keys=True)
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    print(json.dumps([text, digest.replace("-", "X").replace("_", "Y")]))
`

const integer = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }).map(String)
const float = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => writeFloat(number)),
  fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -30, max: 30 })).map(([m, e]) => `${m}e${e}`),
  fc.constantFrom('1e-07', '1e16', '1e22', '5e-324', '-0.0', '1E5', '1e400', '-1e400', '9999999999999998.0', '1e-5'),
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\u007f', '\u0000', '\uffff', '😀'),
)
const quoted = text.map((value) => JSON.stringify(value))
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(quoted, integer, float, fc.constantFrom('true', 'false', 'null')),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(quoted, tie('json')), { maxLength: 5 })
      .map((members) => `{${members.map((pair) => pair.join(':')).join(',')}}`),
  ),
}))

function writeFloat(number: number): string {
  const written = String(number)
  return /[.e]/.test(written) ? written : `${written}.0`
}

const cases = chooseCases(800)

test(`digests are those of Python over ${cases.numRuns} random values of seed ${cases.seed}`, async () => {
  const { command } = await findPython(readLocalConfig().searchPath, AbortSignal.timeout(30_000))
  const values = fc.sample(json, cases)
  const theirs = await runLines(command, values)
  const ours = values.map((value) => [toPythonJson(parseValue(value)), digestValue(parseValue(value))])
  expect(ours).toEqual(theirs)
  expect(theirs.every(([canonical, digest]) => digest === digestText(canonical!))).toBe(true)
})

async function runLines(command: string, lines: string[]): Promise<string[][]> {
  const child = promisify(execFile)(command, ['-c', dump], { maxBuffer: 1024 ** 3 })
  child.child.stdin!.end(lines.join('\n'))
  const { stdout } = await child
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as string[])
}

function digestText(canonical: string): string {
  return createHash('sha256').update(canonical).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}
