import { expect, test } from 'vitest'
import { rewardWeatherCall } from './tools.ts'

const call = (name: string, text: string) => ({ function: { name, arguments: text } })
const reward = (...calls: ReturnType<typeof call>[]) =>
  rewardWeatherCall({ message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' })

test.each([
  ['get_weather', '{"city": "lake"}', 1],
  ['get_weather', '{"place": "lake"}', 0],
  ['get_weather', '{"city": "lake", "a": 1}', 0],
  ['get_weather', '{"city": ["lake"]}', 0],
  ['get_weather', 'null', 0],
  ['get_weather', '{"city": NaN}', 0],
  ['get_time', '{"city": "lake"}', 0],
])('a call of %s with %s has the reward %d', (name, text, worth) => {
  expect(reward(call(name, text))).toBe(worth)
})

test('two calls, or none, have the reward 0', () => {
  const good = call('get_weather', '{"city": "lake"}')
  expect([reward(good, good), reward()]).toEqual([0, 0])
})
