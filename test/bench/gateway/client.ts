import { Connection, type Reply } from './connection.ts'
import type { ClientReport, ClientTask, ClientTarget, LoadTask } from './load.ts'

// The client process. load.ts forks it. It executes one task after the other.
const held: Connection[] = []

process.on('message', (task: ClientTask) => {
  runTask(task).then(
    (report) => process.send?.(report),
    (error: Error) => process.send?.({ error: error.message }),
  )
})

async function runTask(task: ClientTask): Promise<ClientReport> {
  if (task.kind === 'probe') return { reply: await probe(task.target) }
  if (task.kind === 'load') return { latenciesMs: await load(task) }
  if (task.kind === 'hold') await hold(task.target, task.count)
  else release()
  return {}
}

async function probe(target: ClientTarget): Promise<{ status: number; text: string }> {
  const connection = new Connection(target)
  const { status, body } = await connection.send(buildRequests(target)[0]!)
  connection.close()
  return { status, text: body.toString() }
}

/**
 * Sends `count` requests over `concurrency` connections. Each connection sends the next request as soon as it has the
 * reply.
 */
async function load({ target, count, concurrency }: LoadTask): Promise<number[]> {
  const requests = buildRequests(target)
  const latenciesMs: number[] = []
  let next = 0
  const work = async () => {
    const connection = new Connection(target)
    while (next < count) {
      const request = requests[next++ % requests.length]!
      const startMs = performance.now()
      rejectFailure(await connection.send(request))
      latenciesMs.push(performance.now() - startMs)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return latenciesMs
}

async function hold(target: ClientTarget, count: number): Promise<void> {
  const [request] = buildRequests(target)
  // Only a few connections are opened at a time, because the backlog of a listener is short.
  const lanes = 20
  let left = count
  const open = async () => {
    while (left-- > 0) {
      const connection = new Connection(target)
      held.push(connection)
      await connection.openStream(request!)
    }
  }
  await Promise.all(Array.from({ length: lanes }, open))
}

function release(): void {
  for (const connection of held.splice(0)) connection.close()
}

/** Builds a client library's request for each body. */
function buildRequests({ host, port, apiKey, bodies }: ClientTarget): Buffer[] {
  return bodies.map((body) => {
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      `Host: ${host}:${port}`,
      'Connection: keep-alive',
      'Accept: application/json',
      'Content-Type: application/json',
      'User-Agent: bench',
      `Authorization: Bearer ${apiKey}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}

function rejectFailure({ status, body }: Reply): void {
  if (status !== 200) throw new Error(`a chat was answered by ${status}: ${body.toString().slice(0, 500)}`)
}
