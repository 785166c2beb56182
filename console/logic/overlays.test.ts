import { expect, test } from 'vitest'
import { explainToken, shade } from './overlays.ts'

const token = (logprob: number | undefined) => ({ text: ' red', logprob })

test('improbable tokens are darker, and tokens without a log-probability have no colour', () => {
  expect([0, -2, -9].map((logprob) => shade('log-probability', token(logprob)))).toEqual([0, -0.5, -1])
  expect([0, -2, -9].map((logprob) => shade('surprise', token(logprob)))).toEqual([1, 0, -1])
  expect([shade('none', token(-9)), shade('surprise', token(undefined))]).toEqual([0, 0])
})

test('a token explains its number', () => {
  expect(explainToken(token(Math.log(0.25)))).toBe('" red"\nlog-probability at sampling −1.386\nprobability 25 %')
})
