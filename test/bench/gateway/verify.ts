import type { Contestant } from './contestants/contestant.ts'
import type { LoadClient } from './load.ts'
import { buildChat, workloads, workloadNames, type WorkloadName } from './workloads.ts'

interface Reply {
  model: string
  choices: { logprobs: { content: unknown[] } }[]
  usage: { completion_tokens: number }
}

/** Sends a contestant one chat of each kind. @throws {Error} if a part of a reply is missing */
export async function verifyReplies(client: LoadClient, contestant: Contestant): Promise<void> {
  const { name, host, port, apiKey, models } = contestant
  for (const workload of workloadNames) {
    const target = { host, port, apiKey, bodies: [buildChat(models[0]!, workloads[workload]).toString()] }
    const { reply } = await client.run({ kind: 'probe', target })
    const problem = reply?.status === 200 ? findProblem(reply.text, workload, models[0]!) : `status ${reply?.status}`
    if (problem) throw new Error(`${name} answers ${workload} with ${problem}: ${reply?.text.slice(0, 1_000)}`)
  }
}

function findProblem(text: string, workload: WorkloadName, model: string): string | undefined {
  if (workload === 'stream') return findStreamProblem(text, model)
  const reply = JSON.parse(text) as Reply
  if (reply.model !== model) return `the model ${reply.model}`
  const { tokens } = workloads[workload]
  if (reply.choices[0]?.logprobs.content.length !== tokens) return 'too few log-probabilities'
  return reply.usage.completion_tokens === tokens ? undefined : 'another usage'
}

function findStreamProblem(text: string, model: string): string | undefined {
  if (!text.includes(JSON.stringify(model))) return 'another model'
  if (!text.includes('data: [DONE]')) return 'no end'
  // Events are not compared, because LiteLLM adds one.
  const sampled = text.split('"logprob":').length - 1
  return sampled === workloads.stream.tokens ? undefined : `log-probabilities of ${sampled} tokens`
}
