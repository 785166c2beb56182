import { expect, test } from 'vitest'
import { readTurns } from './chat.ts'
import { readLoss, type TokenStatistics } from './loss.ts'
import {
  explainSampled,
  makeSampledScale,
  makeScale,
  measureTurns,
  readStatistics,
  signOf,
  type MeasuredToken,
} from './overlays.ts'

const plain: TokenStatistics = {
  oldLogprob: -1,
  newLogprob: -1,
  ratio: 1,
  coefficient: 0,
  entropy: 0,
  isMasked: false,
  isClippedLow: false,
  isClippedHigh: false,
  isDropped: false,
}
const measured = (statistics: Partial<TokenStatistics>): MeasuredToken => ({
  token: { text: 'a', logprob: -1 },
  statistics: { ...plain, ...statistics },
})
const cispo = readLoss({})

const answer = (...texts: string[]) => ({
  message: { role: 'assistant', content: texts.join('') },
  logprobs: { content: texts.map((token) => ({ token, logprob: -1 })) },
})
const turns = readTurns([
  { role: 'user', content: 'a question' },
  answer('one', 'two'),
  { role: 'assistant', content: 'not sampled' },
  answer('three'),
])

test('rows of the file belong to the sampled tokens in their order', () => {
  const found = measureTurns(
    turns,
    [1, 2, 3].map((ratio) => ({ ...plain, ratio })),
  )
  expect(found?.map((tokens) => tokens?.map(({ token, statistics }) => [token.text, statistics?.ratio]))).toEqual([
    undefined,
    [
      ['one', 1],
      ['two', 2],
    ],
    undefined,
    [['three', 3]],
  ])
})

test('turns that are not measured count for nothing', () => {
  const found = measureTurns(turns, [plain], (turn) => turn !== turns[1])
  expect(found?.map((tokens) => tokens?.map(({ statistics }) => statistics))).toEqual([
    undefined,
    [undefined, undefined],
    undefined,
    [plain],
  ])
})

test('no token gets the numbers of another: other counts have no overlay, and no rows leave the sampled values', () => {
  expect(measureTurns(turns, [plain, plain])).toBeUndefined()
  const [, first] = measureTurns(turns, [])!
  expect(makeScale('old log-probability', first!, cispo)?.write(first![0]!)).toBe('−1')
})

test('only the conversation itself counts, and its first gradient step', () => {
  const columns = {
    gradient_step: [2, 2, 2, 3],
    history_index: [1, 0, 0, 0],
    token_id: [1, 2, 3, 4],
    old_logprob: [-1, -2, null, -4],
    new_logprob: [-1, -2, -3, -4],
    ratio: [1, 2, 3, 4],
    coefficient: [0, 0, 0, 0],
    entropy: [0, 0, 0, 0],
    masked: [false, true, false, false],
    clipped_low: [false, false, true, false],
    clipped_high: [false, false, false, false],
    dropped: [false, false, false, false],
  }
  const found = readStatistics(columns)
  expect(
    found.map(({ ratio, oldLogprob, isMasked, isClippedLow }) => [ratio, oldLogprob, isMasked, isClippedLow]),
  ).toEqual([
    [2, -2, true, false],
    [3, null, false, true],
  ])
})

test.each<[Parameters<typeof makeScale>[0], Partial<TokenStatistics>[], number[]]>([
  ['advantage', [{ coefficient: -0.02 }, { coefficient: 0.04 }, { coefficient: 0 }], [0.5, -1, 0]],
  // Both have the same advantage: the ratio is no part of it.
  ['advantage', [{ coefficient: -0.02 }, { coefficient: -0.04, ratio: 2 }], [1, 1]],
  ['ratio', [{ ratio: 4 }, { ratio: 0.25 }, { ratio: 2 }, { ratio: 1 }, { ratio: 0 }], [1, -1, 0.5, 0, 0]],
  ['new log-probability', [{ newLogprob: -5 }, { newLogprob: -50 }, { newLogprob: 0 }], [-1, -1, 0]],
  ['entropy', [{ entropy: 1 }, { entropy: 0.25 }], [1, 0.25]],
  ['clipped', [{ isClippedHigh: true }, { isClippedLow: true }, {}], [1, -1, 0]],
  ['masked', [{ isMasked: true }, {}], [-1, 0]],
])('%s of %j is coloured %j', (name, statistics, wanted) => {
  const tokens = statistics.map(measured)
  const { shade } = makeScale(name, tokens, cispo)!
  tokens.forEach((token, index) => expect(shade(token)).toBeCloseTo(wanted[index]!))
})

test('a ratio near one is faint, however small the others are', () => {
  const tokens = [measured({ ratio: 1.01 }), measured({ ratio: 0.99 })]
  expect(Math.abs(makeScale('ratio', tokens, cispo)!.shade(tokens[0]!))).toBeLessThan(0.06)
})

test('signs say what colours say', () => {
  expect([-1, -0.1, 0, 0.3].map(signOf)).toEqual(['−', '', '', '+'])
})

test('a sampled token is the more orange the less likely it was, and is explained', () => {
  const token = (logprob: number | undefined) => ({ token: { text: 'a', logprob }, statistics: undefined })
  const shades = [0, -2.5, -9, undefined].map((logprob) => makeSampledScale(true).shade(token(logprob)))
  expect(shades.map((shade) => shade + 0)).toEqual([0, -0.5, -1, 0])
  expect(makeSampledScale(false).shade(token(-9))).toBe(0)
  expect(explainSampled(token(0))).toBe('"a": log-probability 0, probability 100 %')
  expect(explainSampled(token(undefined))).toBe('"a": no log-probability came with it')
})
