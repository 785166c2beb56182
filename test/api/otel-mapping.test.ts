import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parseValue, type Value } from '../../lib/json/value.ts'
import { toPythonJson } from '../../lib/json/python.ts'
import { OtlpError } from '../../apiserver/tracing/otel/otlp-error.ts'
import { writeResource } from '../../apiserver/tracing/otel/otel-dump.ts'
import { createCall } from '../../apiserver/tracing/otel/span-call.ts'
import { readSpan } from '../../apiserver/tracing/otel/read-span.ts'
import { readWireSpans } from '../../apiserver/tracing/otel/wire-spans.ts'
import { ensureClientPython } from '../support/client-python.ts'
import { encodeOtlp, type OtlpRequest } from '../support/otlp.ts'
import { chooseCases } from '../support/random-cases.ts'
import { generateExports } from './otel-spans.ts'

const { seed, numRuns: count } = chooseCases(400)
type Members = Map<string, Value>

let python: string
beforeAll(async () => {
  python = await ensureClientPython('weave-reference')
}, 600_000)

// Four known differences are left out of the comparison: NaN and infinities are null here and texts there; an object
// under a dotted key is merged with keys below it, in any order; an empty object stays empty; a span that reports no tokens
// has no usage here, and one with nulls there.
test(`${count} spans of seed ${seed} become the calls that weave 0.52.20 makes of them`, async () => {
  const exports = generateExports(seed, count)
  const theirs = await askReference(exports)
  const kinds = { call: 0, rejected: 0, fault: 0 }
  for (const [index, expected] of theirs.entries()) {
    const ours = makeCall(exports[index]!)
    const kind = expected.has('fault') ? 'fault' : expected.has('rejected') ? 'rejected' : 'call'
    kinds[kind]++
    // A span that the reference cannot read at all is a call here.
    if (kind === 'fault') expect(ours?.has('id')).toBe(true)
    else if (kind === 'rejected') expect(ours, JSON.stringify(exports[index])).toBeUndefined()
    else expect(ours && inOneForm(ours), JSON.stringify(exports[index])).toEqual(inOneForm(expected))
  }
  // The generator must create enough of each kind.
  expect(kinds.call).toBeGreaterThan(0.9 * count)
  expect(kinds.rejected).toBeGreaterThan(0.02 * count)
})

async function askReference(exports: OtlpRequest['resourceSpans']): Promise<Members[]> {
  const script = path.join(import.meta.dirname, '..', 'clients', 'weave-reference', 'otel_calls.py')
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(exports.map((group) => `${encodeGroup(group).toString('base64')}\n`).join(''))
  const lines = (await text(child.stdout)).trimEnd().split('\n')
  return lines.map((line) => parseValue(line) as Members)
}

/** Encodes a ResourceSpans: a request without its leading tag and length. */
function encodeGroup(group: OtlpRequest['resourceSpans'][0]): Buffer {
  const bytes = encodeOtlp({ resourceSpans: [group] })
  return bytes.subarray(bytes.findIndex((byte, index) => index > 0 && byte < 128) + 1)
}

/** Returns the call of a span. Undefined if it is rejected. */
function makeCall(group: OtlpRequest['resourceSpans'][0]): Members | undefined {
  const [read] = readWireSpans(encodeOtlp({ resourceSpans: [group] }))
  const [source] = read!.spans
  const context = { projectId: 'e/p', resource: writeResource(read!.resource), wbUserId: 'u', wbRunId: undefined }
  try {
    return toMembers(createCall(readSpan(source!), context))
  } catch (error) {
    if (error instanceof OtlpError) return undefined
    throw error
  }
}

function toMembers({ id, start, end }: ReturnType<typeof createCall>): Members {
  const usage = (parseValue(String(end!.summary)) as Members).get('usage') ?? new Map()
  const plain = {
    id,
    trace_id: start!.traceId,
    op_name: start!.opName,
    display_name: start!.displayName ?? null,
    parent_id: start!.parentId ?? null,
    thread_id: start!.threadId ?? null,
    turn_id: start!.turnId ?? null,
    wb_run_step: start!.wbRunStep ?? null,
    started_at: start!.startedAt,
    wb_run_id: start!.wbRunId ?? null,
    ended_at: end!.endedAt,
    exception: end!.exception ?? null,
    wb_run_step_end: end!.wbRunStepEnd ?? null,
  }
  const payloads = {
    attributes: start!.attributes,
    inputs: start!.inputs,
    otel_dump: start!.otelDump,
    output: end!.output,
  }
  const members = parseValue(JSON.stringify(plain)) as Members
  for (const [name, payload] of Object.entries(payloads)) members.set(name, parseValue(String(payload)))
  return members.set('usage', usage)
}

// In members that have all attributes of a span, the reference makes arrays of some objects only.
const wholes = new Set(['attributes', 'otel_dump'])

/** Each member as Python text. */
function inOneForm(call: Members): Record<string, string> {
  const form = (name: string, value: Value) => {
    if (name === 'usage') return toPythonJson(withoutNulls(value))
    return toPythonJson(wholes.has(name) ? toArrays(value) : value)
  }
  return Object.fromEntries(Array.from(call, ([name, value]) => [name, form(name, value)]))
}

/** Usage without the models whose counts are all unknown. */
function withoutNulls(usage: Value): Value {
  const models = [...(usage as Members)]
  return new Map(models.filter(([, counts]) => [...(counts as Members).values()].some((tokens) => tokens !== null)))
}

function toArrays(value: Value): Value {
  if (Array.isArray(value)) return value.map(toArrays)
  if (!(value instanceof Map)) return value
  const members = new Map(Array.from(value, ([key, member]) => [key, toArrays(member)]))
  const indexes = Array.from(members.keys(), (_, index) => String(index))
  const isList = indexes.length > 0 && indexes.every((index) => members.has(index))
  return isList ? indexes.map((index) => members.get(index)!) : members
}
