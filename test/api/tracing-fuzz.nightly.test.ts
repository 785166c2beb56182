import { beforeAll, expect, test } from 'vitest'
import { createRandom } from '../clients/weave-differential/random.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { makeHostile, type Hostile } from '../hostile/hostile-requests.ts'
import { chooseCases } from '../support/random-cases.ts'
import { askOf, makeTraces, type Traces } from '../support/own-traces.ts'
import { createTraceClient } from '../support/trace-client.ts'
import { listTraceOperations, type TraceOperation } from '../support/trace-operations.ts'

// Errors inside the server are in its log.
const own = useApiServer({ LOG_LEVEL: 'error' })
const operations = await listTraceOperations()
const project = 'team/project'
const { seed, numRuns: requests } = chooseCases(700)
const lanes = 4
const maxMs = 5_000
// A slow request is slow each time. A request that only waited for other processes of a busy machine is not.
const maxSlowTries = 3

let key: string
let things: Traces
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
  things = await makeTraces(createTraceClient(own.server.url, key), project, 'mark')
})

const statuses = new Map<number, number>()

/** Checks the answer to a request. A slow request is repeated. Returns the defect, or undefined. */
async function findDefect(operation: TraceOperation, hostile: Hostile): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const { status, text, tookMs } = await ask(hostile)
    const fault = judge(operation, status, text)
    if (fault !== undefined || tookMs <= maxMs) return fault
    if (tries === maxSlowTries) return `it took ${Math.round(tookMs)} ms`
  }
}

async function ask({ method, path, headers, body }: Hostile) {
  const startedAt = performance.now()
  const response = await fetch(own.server.url + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${key}` },
    ...(body && { body }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  return { status: response.status, text, tookMs: performance.now() - startedAt }
}

function judge(operation: TraceOperation, status: number, text: string): string | undefined {
  statuses.set(status, 1 + (statuses.get(status) ?? 0))
  // A changed path may match nothing, or another operation. The database is always available.
  const isElsewhere = status === 404 || status === 405
  const isDocumented = operation.statuses.includes(status) && status !== 503 && status !== 504
  if (!isDocumented && !isElsewhere) return `${status} ${text.slice(0, 300)}`
  return status >= 400 && !isErrorBody(text) ? `${status} in another form: ${text.slice(0, 300)}` : undefined
}

/**
 * An error is a sentence in `reason`, or a list of issues. Paths without an operation of the group answer in `detail`.
 */
function isErrorBody(text: string): boolean {
  try {
    const { reason, detail } = JSON.parse(text) as { reason?: unknown; detail?: unknown }
    return (
      typeof reason === 'string' ||
      Array.isArray(detail) ||
      / does not exist\.|^Method Not Allowed$/i.test(String(detail))
    )
  } catch {
    return false
  }
}

const show = ({ method, path, headers, body }: Hostile) =>
  [method, path.slice(0, 200), JSON.stringify(headers), Buffer.from(body ?? []).toString('utf8', 0, 1_000)].join(' ')

test('for any request, the answer is as the document says', async () => {
  const random = createRandom(seed)
  const wrong: string[] = []
  let left = requests
  const runLane = async () => {
    while (left-- > 0 && wrong.length < 50) {
      const operation = random.pick(operations)
      const hostile = makeHostile(random, askOf(operation, things), project)
      const fault = await findDefect(operation, hostile).catch(
        (error: Error) => `no answer: ${error.message} (${String(error.cause)})`,
      )
      if (fault) wrong.push(`${fault}\n  to ${show(hostile)}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, runLane))
  expect({ seed, wrong }).toEqual({ seed, wrong: [] })
  // Some requests must be rejected, and some must succeed. How many is left to chance.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 403, 404, 422]))
})
