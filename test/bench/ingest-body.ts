import { createWriteStream } from 'node:fs'
import { once } from 'node:events'

const tokensPerTrajectory = 2_000
const trajectoriesPerGroup = 16

/** Writes a job's body of at least `bytes`: groups of 16 trajectories of 2,000 sampled tokens with their logprobs. */
export async function writeBody(file: string, modelId: string, bytes: number): Promise<number> {
  const out = createWriteStream(file)
  const open = `{"model_id":"${modelId}","trajectory_groups":[`
  let size = open.length
  out.write(open)
  for (let group = 0; size < bytes - 2; group++) {
    const text = `${group > 0 ? ',' : ''}{"trajectories":[${makeGroup(group).join()}],"exceptions":[]}`
    size += text.length
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end(']}')
  await once(out, 'finish')
  return size + 2
}

function makeGroup(group: number): string[] {
  return Array.from({ length: trajectoriesPerGroup }, (_, index) => {
    const tokens = Array.from(
      { length: tokensPerTrajectory },
      (_each, at) => 1_000 + ((group * 31 + index * 7 + at) % 150_000),
    )
    return JSON.stringify({
      messages_and_choices: [{ role: 'user', content: `Solve task ${group}.` }, makeChoice(tokens)],
      reward: index / trajectoriesPerGroup,
      metrics: { accuracy: index % 2 === 0, duration: 0.61 },
      metadata: { scenario_id: `task-${group}` },
    })
  })
}

function makeChoice(tokens: number[]) {
  const content = tokens.map((token) => ({
    token: `token_id:${token}`,
    bytes: [104, 105],
    logprob: -(token % 997) / 331,
    top_logprobs: [],
  }))
  return {
    finish_reason: 'stop',
    index: 0,
    logprobs: { content, refusal: null },
    message: { role: 'assistant', content: 'word '.repeat(tokens.length) },
    token_ids: tokens,
  }
}
