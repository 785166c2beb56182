import { randomAddress, startFakeEngine, type EngineTarget } from '../support/fake-engine.ts'

const baseModel = 'bench-model'

/** Runs `work` with a ready engine that answers every chat at once. Passes the name of its base model. */
export async function withFakeEngine<T>(
  home: Pick<EngineTarget, 'kubectl' | 'namespace' | 'pool'>,
  work: (model: string) => Promise<T>,
): Promise<T> {
  const engine = await startFakeEngine({ ...home, address: randomAddress(), baseModel }, (request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end(reply))
  })
  try {
    return await work(baseModel)
  } finally {
    engine.closeAllConnections()
    engine.close()
  }
}

const reply = JSON.stringify({
  id: 'chat',
  object: 'chat.completion',
  created: 0,
  model: baseModel,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
