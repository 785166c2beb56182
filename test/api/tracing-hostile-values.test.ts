import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServerProcess } from '../support/api-server.ts'
import { measureWaits } from '../support/measure-waits.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

// Parsed values must fit into this heap.
const own = useApiServerProcess({ NODE_OPTIONS: '--max-old-space-size=320' })
const mb = 1024 * 1024
// A blocked event loop would take many times as long.
const maxWaitMs = 1_000

let client: TraceClient
beforeAll(async () => {
  client = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
})

/** As many values as fit into this many bytes. */
const values = (bytes: number) => `[${'{},'.repeat(bytes / 3)}1]`

const storeCall = (project_id: string, more: string) => {
  const call = {
    project_id,
    id: newId(),
    trace_id: newId(),
    op_name: 'op',
    started_at: '2026-11-21T10:00:00Z',
    ended_at: '2026-11-21T12:00:00Z',
    attributes: {},
  }
  const members = JSON.stringify(call).slice(0, -1)
  return client.call(`/v2/${project_id}/calls/complete`, `{"batch":[${members},${more}}]}` as never)
}

describe('a call with millions of values is stored once and can be read by all reads', () => {
  test.each<[string, string, object]>([
    ['beside members that a server computes', `"inputs":{},"summary":{"weave":{"own":1},"x":${values(8 * mb)}}`, {}],
    ['under a name that a server computes', `"inputs":{},"summary":{"weave":{"x":${values(8 * mb)}}}`, {}],
    ['beside usage', `"inputs":{},"summary":{"usage":{"m":{}},"x":${values(8 * mb)}}`, { include_costs: true }],
    ['as usage', `"inputs":{},"summary":{"usage":${values(8 * mb)}}`, { include_costs: true }],
    ['beside counts', `"inputs":{},"summary":{"status_counts":{"error":1},"x":${values(8 * mb)}}`, {}],
    ['where refs are expanded', `"inputs":{"a":${values(8 * mb)}},"summary":{}`, { expand_columns: ['inputs.a'] }],
  ])('%s', async (name, more, query) => {
    const project_id = `team/${name.replaceAll(' ', '-')}`
    await storeCall(project_id, more)
    const answer = client.send('POST', '/calls/stream_query', { project_id, limit: 1, ...query })
    const text = answer.then((response) => response.text())
    expect(await measureWaits(own.server, text)).toBeLessThan(maxWaitMs)
    const { summary } = JSON.parse(await text) as { summary: { weave: { status: string } } }
    expect(summary.weave.status).toBe(name === 'beside counts' ? 'descendant_error' : 'success')
  })
})

describe('a body of millions of values is rejected', () => {
  const project_id = 'team/bodies'
  test.each<[string, string]>([
    ['/calls/stream_query', '"query":'],
    ['/v2/team/bodies/calls/complete', '"batch":'],
    ['/objs/query', '"filter":'],
    ['/feedback/batch/create', '"batch":'],
    ['/refs/read_batch', '"refs":'],
    ['/completions/create', '"inputs":'],
    ['/graphql', '"variables":'],
  ])('of %s', async (path, member) => {
    const body = `{"project_id":"${project_id}",${member}${values(12 * mb)}}`
    const answer = client.send('POST', path, body)
    expect(await measureWaits(own.server, answer)).toBeLessThan(maxWaitMs)
    expect((await answer).status).toBe(422)
  })
})
