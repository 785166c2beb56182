import { expect, test } from 'vitest'
import { planTexts, type Plan } from './text-plan.ts'

test('paths become a tree', () => {
  expect(show(planTexts(['a.b', 'a.c[]', 'rows[]', 'a.c[].d']))).toEqual({
    '"a"': { '"b"': 'text', '"c"': { '[]': { is: 'text', '"d"': 'text' } } },
    '"rows"': { '[]': 'text' },
  })
  expect(show(planTexts(['']))).toBe('text')
})

test('a list of paths is parsed once', () => {
  const paths = ['a']
  expect(planTexts(paths)).toBe(planTexts(paths))
})

test('a plan knows the first bytes of its keys, also of escapes', () => {
  const { firstBytes } = planTexts(['ab', 'é'])
  const bytes = [...firstBytes.keys()].filter((byte) => firstBytes[byte] === 1)
  expect(bytes).toEqual([...Buffer.from('\\aé')].slice(0, 3))
})

function show({ isText, members, item }: Plan): unknown {
  const below = members.map(({ key, plan }): [string, unknown] => [key.toString(), show(plan)])
  if (item) below.push(['[]', show(item)])
  if (isText && below.length === 0) return 'text'
  return Object.fromEntries([...(isText ? [['is', 'text'] as const] : []), ...below])
}
