import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HttpError } from '../../../lib/http/http-error.ts'
import { parseBody } from '../../../lib/http/body.ts'
import { chooseCases } from '../../../test/support/random-cases.ts'

// The engine, which is written in Python, must read the same values that the gateway has checked. So no member can be
// hidden from one of them.

const changes = {
  model: 'checkpoint',
  cache_salt: 'é',
  logprobs: true,
  vllm_xargs: { a: [1, null] },
  engine_xargs: undefined,
}

const pieces = ['a', 'é', '𝄞', '\\u00e9', '\\ud834\\udd1e', '\\"', '\\\\', '\\n', '\\/', '{', '}', '[', ',', ':', ' ']
const halves = fc.constantFrom('\\ud834', '\\udd1e', '\\uDD1E')
const piece = fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: halves })
const text = fc.array(piece, { maxLength: 12 }).map((parts) => `"${parts.join('')}"`)
const space = fc.constantFrom('', '', '', ' ', '\n\t ')
const plain = fc.constantFrom(
  '1',
  '-0',
  '1.50',
  '1e3',
  '9223372036854775807',
  'true',
  'null',
  'NaN',
  'Infinity',
  '01',
  '',
)
const key = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '"model"',
      '"mod\\u0065l"',
      '"\\u006dodel"',
      '"cache_salt"',
      '"logprobs"',
      '"logprob\\u0073"',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('"vllm_xargs"', '"engine_xargs"', '"messages"', '"a"') },
  { weight: 1, arbitrary: text },
)

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(
      plain.filter((word) => /^(-?\d[\d.e]*|true|null)$/.test(word) && word !== '01'),
      text,
    ),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map(([name, item]) => `${name}:${String(item)}`).join(',')}}`),
}))
const member = fc
  .tuple(space, key, space, space, value, space)
  .map(([a, name, b, c, item, d]) => `${a}${name}${b}:${c}${String(item)}${d}`)
const body = fc.array(member, { maxLength: 8 }).map((members) => `{${members.join(',')}}`)
/** Sometimes a piece is inserted at any position, which usually makes the text invalid JSON. */
const broken = fc
  .tuple(body, fc.nat(), fc.oneof(plain, fc.constantFrom(...pieces, '"', '\u0000', '\uFEFF')))
  .map(([whole, at, inserted]) => {
    const index = at % (whole.length + 1)
    return whole.slice(0, index) + inserted + whole.slice(index)
  })

interface Case {
  original: string
  value: unknown
  changed: string
}

/** Returns what the gateway reads and sends for a body. Undefined if it rejects the body. */
function pass(source: string): Case | undefined {
  const bytes = Buffer.from(source)
  try {
    const document = parseBody(bytes)
    const changed = String(document.members.change(changes))
    return { original: bytes.toString(), value: document.value, changed }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return undefined
  }
}

const python = `
import json, math, sys

def as_double(number):
    # A number beyond the range of a double is infinite in JavaScript, and null in its JSON.
    try: double = float(number)
    except OverflowError: return None
    return None if math.isinf(double) else double

def floats(value):
    if isinstance(value, dict): return {name: floats(item) for name, item in value.items()}
    if isinstance(value, list): return [floats(item) for item in value]
    return value if value is None or isinstance(value, (bool, str)) else as_double(value)

cases, changes, removed = json.load(sys.stdin)
wrong = []
for case in cases:
    original = json.loads(case["original"].encode())
    if floats(original) != floats(case["value"]): wrong.append(["value", case["original"]])
    if not isinstance(original, dict): continue
    expected = {**{name: item for name, item in original.items() if name not in removed}, **changes}
    if json.loads(case["changed"].encode()) != expected: wrong.append(["changed", case["original"], case["changed"]])
print(json.dumps(wrong))
`

test('an engine reads the values that the gateway has checked, for any keys, escapes and repetitions', () => {
  const { seed, numRuns } = chooseCases(2_000)
  const sources = fc.sample(fc.oneof({ weight: 3, arbitrary: body }, { weight: 1, arbitrary: broken }), {
    seed,
    numRuns,
  })
  const cases = sources.flatMap((source) => pass(source) ?? [])
  // Only an object has members to change.
  const objects = cases.filter(
    (each) => typeof each.value === 'object' && each.value !== null && !Array.isArray(each.value),
  )
  expect(objects.length).toBeGreaterThan(numRuns / 4)
  const input = JSON.stringify([objects, changes, ['engine_xargs']])
  const { status, stdout, stderr } = spawnSync('python3', ['-c', python], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  expect(status, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual([])
})
