import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import { usageKeys } from './conventions.ts'
import { findFirst, findInteger } from './find-attribute.ts'
import type { Members } from './nest.ts'

/**
 * Reads the usage for a call's summary. It has all kinds of tokens, with null for unknown counts. Undefined if the span
 * reports no tokens.
 */
export function readUsage(attributes: Members): Members | undefined {
  const kinds = Object.keys(usageKeys) as (keyof typeof usageKeys)[]
  if (!kinds.some((kind) => isReported(attributes, kind))) return undefined
  const tokens = (kind: keyof typeof usageKeys) => findInteger(attributes, usageKeys[kind])
  const [input, output] = [tokens('input_tokens'), tokens('output_tokens')]
  const [prompt, completion] = [tokens('prompt_tokens'), tokens('completion_tokens')]
  const total = isReported(attributes, 'total_tokens')
    ? tokens('total_tokens')
    : (sum(prompt, completion) ?? sum(input, output))
  return new Map<string, Value>([
    ['prompt_tokens', toValue(prompt)],
    ['input_tokens', toValue(input)],
    ['completion_tokens', toValue(completion)],
    ['output_tokens', toValue(output)],
    ['requests', null],
    ['total_tokens', toValue(total)],
  ])
}

function isReported(attributes: Members, kind: keyof typeof usageKeys): boolean {
  return findFirst(attributes, usageKeys[kind]) !== undefined
}

function sum(left: bigint | undefined, right: bigint | undefined): bigint | undefined {
  return left === undefined || right === undefined ? undefined : left + right
}

function toValue(integer: bigint | undefined): Value {
  return integer === undefined ? null : new JsonNumber(String(integer))
}
