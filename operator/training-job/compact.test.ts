import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { apiVersion } from '../../crds/names.ts'
import { compactJob } from './compact.ts'

const spec = {
  modelRef: { name: 'm' },
  method: 'SFT' as const,
  inputRef: { uri: 'artifact:///payloads/team/a.jsonl' },
  config: { batchSize: 4, learningRates: Array.from({ length: 20_000 }, (_, index) => 1e-5 + index * 1e-9) },
}

test('a job is kept without its learning rates and without what kubectl has applied', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(spec), mine: 'kept' }
  const job = compactJob({ apiVersion, kind: 'TrainingJob', metadata: { name: 'j', annotations }, spec })
  expect(job.metadata.annotations).toEqual({ mine: 'kept' })
  expect(job.spec).toEqual({ ...spec, config: { batchSize: 4 } })
  expect(compactJob({ metadata: {}, spec: { ...spec, config: undefined } } as never).spec).not.toHaveProperty('config')
})

test('1,000 jobs with 20,000 learning rates are listed within the memory of the operator', async () => {
  const server = await serveJobs(1_000)
  // The operator's limit is 512 MiB, of which Node gives its heap a half.
  const args = ['--max-old-space-size=256', path.join(import.meta.dirname, '../../test/support/list-jobs.ts'), server]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { jobs, maxMebibytes } = JSON.parse(stdout) as { jobs: number; maxMebibytes: number }
  expect(jobs).toBe(1_000)
  expect(maxMebibytes).toBeLessThan(512)
}, 120_000)

/** An API server with this many jobs, which lists them in pages. */
async function serveJobs(count: number): Promise<string> {
  const rest = JSON.stringify({ spec, status: { phase: 'Queued' } }).slice(1)
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://server')
    const from = Number(searchParams.get('continue') ?? 0)
    const next = Math.min(count, from + Number(searchParams.get('limit')))
    const items = Array.from({ length: next - from }, (_, index) => `{"metadata":{"name":"j${from + index}"},${rest}`)
    const metadata = { resourceVersion: '1', ...(next < count && { continue: String(next) }) }
    response.end(`{"metadata":${JSON.stringify(metadata)},"items":[${items.join(',')}]}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
