import { isObject } from '../../lib/json/is-object.ts'
import type { Choice } from './client.ts'

/** The demo's tools. The untrained model calls the wrong one in most answers. */
export const weatherTools = [describeTool('get_weather', 'city'), describeTool('get_time', 'place')]

export const toolPrompts = [
  'Use get_weather for the garden.',
  'Please call get_weather with village.',
  'Ask get_weather: harbour',
  'Ask get_weather: mountains',
]

/** 1 for one call of get_weather with a city, else 0. */
export function rewardWeatherCall({ message }: Choice): number {
  const [call, another] = message.tool_calls ?? []
  if (call?.function.name !== 'get_weather' || another) return 0
  return takesCity(call.function.arguments) ? 1 : 0
}

/** Whether a city is the only argument of a call. A model may write anything for arguments. */
function takesCity(text: string): boolean {
  try {
    const given: unknown = JSON.parse(text)
    return isObject(given) && Object.keys(given).length === 1 && typeof given['city'] === 'string'
  } catch {
    return false
  }
}

function describeTool(name: string, argument: string): object {
  const parameters = { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] }
  return { type: 'function', function: { name, parameters } }
}
