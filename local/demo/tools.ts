import { isObject } from '../../lib/json/is-object.ts'
import type { Choice } from './client.ts'

/** The demo's tools. The untrained model calls the wrong one in about every second answer. */
export const weatherTools = [describeTool('get_weather', 'city'), describeTool('get_time', 'place')]

/** The prompts name a place, but the untrained model calls tools with any of its words. */
export const toolPrompts = [
  'Use get_weather for the garden.',
  'Please call get_weather with village.',
  'Use get_weather for the sea.',
  'Use get_weather for mountains.',
]

const water = new Set(['beach', 'harbour', 'island', 'lake', 'river', 'sea'])

/** 1 for one call of get_weather with a place at the water, and half of it for a call with any other city. */
export function rewardWeatherCall({ message }: Choice): number {
  const [call, another] = message.tool_calls ?? []
  if (call?.function.name !== 'get_weather' || another) return 0
  const city = readCity(call.function.arguments)
  if (city === undefined) return 0
  return water.has(city) ? 1 : 0.5
}

/** The only argument of a call, if it is a city. A model may write anything for arguments. */
function readCity(text: string): string | undefined {
  try {
    const given: unknown = JSON.parse(text)
    if (!isObject(given) || Object.keys(given).length !== 1) return undefined
    return typeof given['city'] === 'string' ? given['city'] : undefined
  } catch {
    return undefined
  }
}

function describeTool(name: string, argument: string): object {
  const parameters = { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] }
  return { type: 'function', function: { name, parameters } }
}
