import { HttpError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { findLoneSurrogate } from '../../../lib/json/lone-surrogate.ts'
import { JsonReader, type ReadInto } from '../../../lib/json/reader.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { compileIssues, maxIssues } from '../../../lib/http/validation/compile.ts'
import { chooseCases, type RandomCases } from '../../../test/support/random-cases.ts'
import { bodyLimits } from './body-size.ts'
import { checkBody, readBytes } from './check-body.ts'
import { readTrajectoryBody, type BodyContent } from './read-body.ts'
import { bodySchemas } from './shapes.ts'

const modelId = '0d9a3f0e-8f64-4f0a-9d0e-4a3c1c1f5b11'

/** Generates the same random numbers for the same seed. */
function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, pick: <T>(items: readonly T[]): T => items[below(items.length)]! }
}

type Random = ReturnType<typeof createRandom>

const listSeeds = ({ seed, numRuns }: RandomCases) => Array.from({ length: numRuns }, (_, index) => seed + index)

const texts = ['', 'a', 'é', '😀', '"', '\\', '\n', '\u0000', 'trajectories', '},]', '\\"[{', '\u2028', 'x'.repeat(50)]
const keys = ['a', 'é', '"k"', '__proto__', 'toString', 'trajectories', 'messages_and_choices', 'reward', 'metadata']

function anything({ next, below, pick }: Random, depth = 0): unknown {
  const random = { next, below, pick }
  const kind = below(depth > 3 ? 5 : 7)
  if (kind === 0) return pick(texts)
  if (kind === 1) return (next() - 0.5) * 10 ** below(20)
  if (kind === 2) return below(1000)
  if (kind === 3) return null
  if (kind === 4) return next() < 0.5
  const items = Array.from({ length: below(4) }, () => anything(random, depth + 1))
  if (kind === 5) return items
  return Object.fromEntries(items.map((item) => [pick(keys), item]))
}

/** Mostly `value`, sometimes anything else, sometimes nothing. This makes documents that are nearly valid. */
function nearly(random: Random, value: unknown): unknown {
  const dice = random.below(60)
  if (dice === 0) return anything(random)
  if (dice === 1) return undefined
  return dice === 2 ? null : value
}

function listOf(random: Random, most: number, make: () => unknown): unknown[] {
  return Array.from({ length: random.below(most + 1) }, () => nearly(random, make()) ?? null)
}

function makeBody(random: Random): object {
  const message = () => ({ role: 'user', content: nearly(random, random.pick(texts)) })
  const token = () => ({ token: 'token_id:7', logprob: nearly(random, -random.next()), bytes: [1] })
  const choice = () => ({
    finish_reason: nearly(random, random.pick(['stop', 'length'])),
    message: nearly(random, { role: 'assistant', content: random.pick(texts), tool_calls: random.pick([null, [{}]]) }),
    logprobs: nearly(random, { content: listOf(random, 3, token) }),
    token_ids: nearly(
      random,
      listOf(random, 3, () => random.below(9)),
    ),
  })
  const messages = () => listOf(random, 4, () => (random.below(2) ? message() : choice()))
  const trajectory = () => ({
    messages_and_choices: nearly(random, messages()),
    reward: nearly(random, random.below(5) / 2),
    metadata: nearly(random, { scenario_id: random.pick(['s', 7, null]), more: anything(random) }),
    metrics: nearly(random, { acc: true, n: 1, no: 'text' }),
    start_time: nearly(random, '2026-01-01T00:00:00.123456'),
    additional_histories: nearly(random, random.pick([null, [{ messages_and_choices: messages() }]])),
    [random.pick(keys)]: anything(random),
  })
  const group = () => ({
    metadata: nearly(random, {}),
    trajectories: nearly(random, listOf(random, 3, trajectory)),
    exceptions: nearly(random, [{}]),
  })
  return {
    model_id: nearly(random, modelId),
    [random.pick(keys)]: anything(random),
    trajectory_groups: nearly(random, listOf(random, 3, group)),
    experimental_config: nearly(random, { scale_rewards: nearly(random, true) }),
  }
}

/** JSON with white space, escapes and repeated keys, as other programs write it. */
function write(random: Random, value: unknown): string {
  const gap = () => (random.below(4) ? '' : random.pick([' ', '\n', '\t', '\r\n  ']))
  const text = (source: string) =>
    random.below(6) ? JSON.stringify(source) : `"${Array.from(source, escapeCharacter).join('')}"`
  const put = (part: unknown): string => {
    if (typeof part === 'string') return text(part)
    if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'null'
    if (Array.isArray(part)) return `[${gap()}${part.map(put).join(`${gap()},${gap()}`)}${gap()}]`
    const members = Object.entries(part).filter(([, member]) => member !== undefined)
    const written = members.flatMap(([key, member]) => {
      const again = random.below(40) ? [] : [`${text(key)}:${put(anything(random))}`]
      return [...again, `${gap()}${text(key)}${gap()}:${gap()}${put(member)}`]
    })
    return `{${written.join(`${gap()},`)}${gap()}}`
  }
  return gap() + put(value) + gap()
}

function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((code) => String.raw`\u` + code.toString(16).padStart(4, '0'))
    .join('')
}

function corrupt(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text)
  const at = random.below(bytes.length)
  const kind = random.below(5)
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1) return Buffer.concat([bytes, Buffer.from(random.pick(['x', '}', ' ,', '\u00a0', '{}']))])
  if (kind === 2) bytes[at] = random.below(256)
  if (kind === 3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
  const inserted = random.pick([',', ']', '}', '"', String.raw`"\ud800"`, 'NaN', '1e999', '\\', '[', '\u0001'])
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)])
}

const findIssues = compileIssues(bodySchemas.job)

/** The expected result: parse everything, then check everything. */
function judgePlainly(bytes: Buffer): ValidationIssue[] | string {
  try {
    const document = parseJson(bytes)
    return findLoneSurrogate(document) ? 'string_unicode' : findIssues(document.value, 0).slice(0, maxIssues)
  } catch (error) {
    if (error instanceof JsonError) return 'json_invalid'
    throw error
  }
}

/** Returns a few bytes at a time, so that every position becomes a border between two parts. */
function trickle(bytes: Buffer, random: Random): ReadInto {
  const read = readBytes(bytes)
  return (into) => read(into.subarray(0, 1 + random.below(7)))
}

function judge(bytes: Buffer, random: Random): { said: ValidationIssue[] | string; content?: BodyContent } {
  try {
    return {
      said: [],
      content: readTrajectoryBody(new JsonReader(trickle(bytes, random), bodyLimits, 16), {
        kind: 'job',
        model: 'team/demo/agent',
      }),
    }
  } catch (error) {
    if (!(error instanceof HttpError) || typeof error.detail === 'string') throw error
    const [{ type } = { type: '' }] = error.detail
    return { said: type === 'json_invalid' || type === 'string_unicode' ? type : error.detail }
  }
}

interface Parsed {
  trajectory_groups: { trajectories: { reward: number; messages_and_choices: object[] }[] }[]
}

describe('a body that is read in parts', () => {
  test('has the same issues and trajectories as one that is parsed as a whole', () => {
    let taken = 0
    const cases = chooseCases(600)
    for (const seed of listSeeds(cases)) {
      const random = createRandom(seed)
      const bytes = Buffer.from(write(random, makeBody(random)))
      const { said, content } = judge(bytes, random)
      expect({ seed, said }).toEqual({ seed, said: judgePlainly(bytes) })
      if (!content) continue
      taken++
      const parsed = JSON.parse(bytes.toString()) as Parsed
      const found = content.rows.map(
        ({ payload_offset: at, payload_length: length, group_index, trajectory_index }) => [
          [group_index, trajectory_index],
          JSON.parse(bytes.toString('utf8', at, at + length)) as unknown,
        ],
      )
      const expected = parsed.trajectory_groups.flatMap((group, groupIndex) =>
        (group.trajectories ?? []).map((trajectory, index) => [[groupIndex, index], trajectory]),
      )
      expect({ seed, found }).toEqual({ seed, found: expected })
    }
    expect(taken).toBeGreaterThan(cases.numRuns / 10)
  })

  test('is rejected if it is not JSON, like one that is parsed as a whole', () => {
    let refused = 0
    const cases = chooseCases(1_200)
    for (const seed of listSeeds(cases)) {
      const random = createRandom(seed)
      const bytes = corrupt(random, write(random, makeBody(random)))
      const { said } = judge(bytes, random)
      const plainly = judgePlainly(bytes)
      expect({ seed, said }).toEqual({ seed, said: plainly })
      if (plainly === 'json_invalid') refused++
    }
    expect(refused).toBeGreaterThan(cases.numRuns / 2)
  })
})

const check = (text: string) => checkBody(readBytes(Buffer.from(text)), { kind: 'job', model: 'team/demo/agent' })
const bodyOf = (groups: string) => `{"model_id":"${modelId}","trajectory_groups":${groups}}`
const trajectory = '{"messages_and_choices":[],"reward":1}'

describe('a body is', () => {
  test.each([
    ['its last groups, if they are repeated', `[{"trajectories":[${trajectory}]}],"trajectory_groups":[]`, 0],
    ['its last groups, even if the first are invalid', `[1],"trajectory_groups":[{"trajectories":[${trajectory}]}]`, 1],
    ['the last trajectories of a group', `[{"trajectories":[7],"trajectories":[${trajectory},${trajectory}]}]`, 2],
  ])('%s', (_, groups, trajectories) => {
    expect(check(bodyOf(groups))).toMatchObject({ trajectories })
  })

  test('accepted with a byte order mark', () => {
    expect(check(`\uFEFF${bodyOf('[]')}`)).toMatchObject({ groups: 0, trajectories: 0 })
  })

  test('rejected for a byte order mark in the middle', () => {
    expect(() => check(bodyOf('[\uFEFF]'))).toThrow('not valid JSON')
  })

  test('rejected if it has too many trajectories to be listed', () => {
    expect(() => check(bodyOf(`[{"trajectories":[${`${trajectory},`.repeat(100_000)}${trajectory}]}]`))).toThrow(
      'more than 100000 trajectories',
    )
  })

  test.each([
    ['with too many parts', `[${'[],'.repeat(3_000_000)}[]]`],
    ['with too many numbers', `[${'1,'.repeat(8_000_001)}1]`],
    ['larger than 64 MiB', `"${'x'.repeat(65 * 1024 * 1024)}"`],
  ])('rejected if it has a part %s', (_, part) => {
    expect(() => check(`{"more":${part}}`)).toThrow(expect.objectContaining({ status: 413 }))
  })

  test('rejected if its parts together have too many objects and lists', () => {
    const read = (text: string, most: number) =>
      readTrajectoryBody(new JsonReader(readBytes(Buffer.from(text)), { ...bodyLimits, totalContainers: most }), {
        kind: 'job',
        model: 'team/demo/agent',
      })
    const groups = `[{"trajectories":[${trajectory},${trajectory}],"logs":[[]]}]`
    // The body, its list of groups, a group and its list, each trajectory and its list, and two in the logs.
    expect(read(bodyOf(groups), 10)).toMatchObject({ groups: 1 })
    expect(() => read(bodyOf(groups), 9)).toThrow(
      expect.objectContaining({ status: 413, detail: expect.stringContaining('at most 20000000 objects and lists') }),
    )
    expect(() => read(bodyOf(`[${'{},'.repeat(20)}{}]`), 10)).toThrow(expect.objectContaining({ status: 413 }))
  })

  test('rejected with the first issue if a large part has many', () => {
    const items = Array.from({ length: 600_000 }, () => 1)
    const body = {
      model_id: modelId,
      trajectory_groups: [{ trajectories: [{ messages_and_choices: items, reward: 1 }] }],
    }
    expect(() => check(JSON.stringify(body))).toThrow(
      expect.objectContaining({ detail: [expect.objectContaining({ type: 'dict_type' })] }),
    )
  })
})

describe('the index rows of a body', () => {
  const choice = (more: object = {}) => ({
    finish_reason: 'stop',
    message: { role: 'assistant', content: 'hi' },
    logprobs: { content: [{ token: 'token_id:1', logprob: -1 }] },
    ...more,
  })
  const prompt = [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
  ]
  const hashOf = (messages: object[]) => createHash('sha256').update(JSON.stringify(messages)).digest('hex')

  test('have the position and the kind of each trajectory', () => {
    const first = {
      messages_and_choices: [...prompt, choice({ finish_reason: 'length', token_ids: [1, 2, 3] })],
      reward: 1,
      metrics: { acc: true, n: 2, note: 'x', 'nul\0': 0.5 },
      metadata: { scenario_id: 'mine\0' },
      additional_histories: [{ messages_and_choices: [choice()] }],
    }
    const second = {
      messages_and_choices: [{ role: 'assistant', content: null, tool_calls: [{}] }, choice({ logprobs: null })],
      reward: 0,
    }
    const groups = [
      { trajectories: [first, second], metadata: { scenario_id: 7 }, exceptions: [{}, {}] },
      { trajectories: [{ messages_and_choices: [], reward: 3 }], exceptions: null },
      { trajectories: [], exceptions: [{}] },
    ]
    const text = JSON.stringify({ trajectory_groups: groups, model_id: modelId })
    const { rowBatches, rewards, ...checked } = check(text)
    expect(checked).toEqual({
      members: { model_id: modelId, trajectory_groups: [] },
      groups: 3,
      needsModel: false,
      exceptions: 3,
      trajectories: 3,
    })
    expect(rewards).toEqual({
      count: 3,
      mean: 4 / 3,
      min: 0,
      max: 3,
      squares: expect.closeTo(14 / 3),
      deviation: expect.closeTo(1.2472),
    })
    expect(JSON.parse(rowBatches.join())).toEqual([
      {
        group_index: 0,
        trajectory_index: 0,
        group_exceptions: 2,
        scenario_id: 'mine\uFFFD',
        prompt_hash: hashOf(prompt),
        reward: 1,
        advantage: 0.5 / (0.5 + 1e-6),
        metrics: { acc: true, n: 2, 'nul\uFFFD': 0.5 },
        tokens: 4,
        flags: ['truncated', 'additional_histories'],
        payload_offset: text.indexOf(JSON.stringify(first)),
        payload_length: JSON.stringify(first).length,
      },
      expect.objectContaining({
        scenario_id: '7',
        prompt_hash: hashOf([]),
        advantage: -0.5 / (0.5 + 1e-6),
        tokens: 0,
        flags: ['no_logprobs', 'tool_calls'],
      }),
      expect.objectContaining({
        group_index: 1,
        group_exceptions: 0,
        scenario_id: null,
        advantage: 0,
        flags: ['no_logprobs', 'zero_advantage'],
      }),
    ])
  })

  test.each([
    ['scaled', '', [-1.2247433713923, 0, 1.2247433713923]],
    ['as they are', ',"experimental_config":{"scale_rewards":false}', [-1, 0, 1]],
  ])('have advantages %s', (_, config, expected) => {
    const trajectories = [1, 2, 3].map((reward) => ({ messages_and_choices: [], reward }))
    const { rowBatches } = check(bodyOf(`${JSON.stringify([{ trajectories }])}${config}`))
    const rows = JSON.parse(rowBatches.join()) as { advantage: number; flags: string[] }[]
    expect(rows.map(({ advantage }) => advantage)).toEqual(expected.map((value) => expect.closeTo(value, 9) as number))
    expect(rows.map(({ flags }) => flags.includes('zero_advantage'))).toEqual([false, true, false])
  })

  test('have no advantage if rewards overflow', () => {
    const trajectories = [1.7e308, -1.7e308].map((reward) => ({ messages_and_choices: [], reward }))
    const { rewards } = check(bodyOf(JSON.stringify([{ trajectories }])))
    expect(rewards).toMatchObject({ mean: 0, min: -1.7e308, max: 1.7e308 })
  })
})
