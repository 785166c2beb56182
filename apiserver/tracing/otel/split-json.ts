import { isObject } from '../../../lib/json/is-object.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { cleanJson } from '../../../lib/json/clean.ts'
import { readJson } from '../../../lib/json/read-json.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { OtlpError } from './otlp-error.ts'

// These are not parsed here. Each is parsed later, when it is needed.
const texts = ['resourceSpans[].resource', 'resourceSpans[].scopeSpans[].spans[]']

interface Group {
  resource?: JsonText
  scopeSpans?: unknown
}

/** The byte ranges of a request in JSON, so that each part can be parsed by itself. */
export interface SplitRequest {
  /** The request that the ranges refer to, without characters that Postgres cannot store. */
  source: Uint8Array<ArrayBuffer>
  groups: { resource: ByteRange | undefined; spans: ByteRange[] }[]
}

/** A byte range. The end is exclusive. */
export type ByteRange = [start: number, end: number]

/** Splits a request. It takes time in proportion to the size. @throws {OtlpError} for an invalid request */
export function splitJson(bytes: Buffer): SplitRequest {
  const groups = listOf(parse(cleanJson(bytes)), 'resourceSpans').map((given) => {
    const { resource, scopeSpans } = requireObject(given) as Group
    const spans = listOf({ scopeSpans }, 'scopeSpans').flatMap((scope) => listOf(scope, 'spans') as JsonText[])
    return { resource: resource?.first === 'n' ? undefined : resource, spans }
  })
  const first = groups.flatMap(({ resource, spans }) => [resource, spans[0]]).find((text) => text !== undefined)
  return {
    source: new Uint8Array((first?.bytes.buffer ?? new ArrayBuffer(0)) as ArrayBuffer),
    groups: groups.map(({ resource, spans }) => ({
      resource: resource && rangeOf(resource),
      spans: spans.map(rangeOf),
    })),
  }
}

function rangeOf({ bytes }: JsonText): ByteRange {
  return [bytes.byteOffset, bytes.byteOffset + bytes.length]
}

function parse(bytes: Buffer): unknown {
  try {
    return readJson(bytes, texts)
  } catch (cause) {
    throw cause instanceof JsonError ? new OtlpError(cause.message, { cause }) : cause
  }
}

function listOf(value: unknown, key: string): unknown[] {
  const list = requireObject(value)[key] ?? []
  if (Array.isArray(list)) return list
  throw new OtlpError(`${key} is not a list`)
}

function requireObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value
  throw new OtlpError('a field that must be an object is not an object')
}
