import { createServer } from 'node:http'
import type { BenchServer } from './bench-server.ts'

// Where the gateway looks for engines; the address is nobody else's on this machine.
const address = '127.0.0.9'
const port = 8000

const baseModel = 'bench-model'

/** Lets a server see a ready engine that answers every chat at once; gives the name of its base model. */
export async function withFakeEngine<T>(bench: BenchServer, work: (model: string) => Promise<T>): Promise<T> {
  const engine = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end(reply))
  })
  await new Promise<void>((resolve, reject) => {
    engine.once('error', reject)
    engine.listen(port, address, resolve)
  })
  try {
    await addEnginePod(bench)
    await bench.pool.query(
      'INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], $2, $1)',
      [baseModel, bench.namespace],
    )
    return await work(baseModel)
  } finally {
    engine.closeAllConnections()
    engine.close()
  }
}

async function addEnginePod({ kubectl, namespace }: BenchServer): Promise<void> {
  const labels = `trainyard.dev/component=engine,trainyard.dev/base-model=${baseModel}`
  // No scheduler of this name gives it to a node, so that nobody starts it.
  const overrides = JSON.stringify({ spec: { schedulerName: 'nobody' } })
  const args = ['run', 'engine', '--image=none', `--labels=${labels}`, `--overrides=${overrides}`, '--restart=Never']
  await kubectl('-n', namespace, ...args)
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = JSON.stringify({ status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions } })
  await kubectl('-n', namespace, 'patch', 'pod', 'engine', '--subresource=status', '--type=merge', '-p', status)
}

const reply = JSON.stringify({
  id: 'chat',
  object: 'chat.completion',
  created: 0,
  model: baseModel,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
