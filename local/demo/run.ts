import { formatStep, plotRewards, tableHead } from './plot.ts'
import { describeQuestion, type Task } from './rewards.ts'
import type { Choice, Question, TrainyardClient, TrajectoryGroup } from './client.ts'

const samplesPerPrompt = 8
// This is high for LoRA on a large model, and right for a model of half a million parameters.
const learningRate = 3e-3

interface Rollout {
  groups: TrajectoryGroup[]
  reward: number
  sample: string
}

/**
 * Runs the main job: sample, score, train, repeat. Prints a table while it runs and a plot at its end.
 *
 * @returns the mean reward before the first step and after each step
 */
export async function runMainJob(
  client: TrainyardClient,
  options: { task: Task; steps: number; baseModel: string; print: (line: string) => void },
): Promise<{ rewards: number[]; servedName: string }> {
  const { task, steps, print } = options
  const name = `${task.name}-${new Date()
    .toISOString()
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 14)}`
  const model = await client.registerModel('demo', name, options.baseModel)
  print(`model ${model.servedName}\ntask  ${task.goal}\n\n${tableHead}`)

  const rewards: number[] = []
  for (let step = 0; step <= steps; step++) {
    const started = performance.now()
    const rollout = await rollOut(client, model.servedName, task)
    rewards.push(rollout.reward)
    const loss = step < steps ? await trainOnce(client, model.id, rollout.groups) : undefined
    const seconds = (performance.now() - started) / 1000
    print(
      formatStep({
        step,
        reward: rollout.reward,
        seconds,
        sample: rollout.sample,
        ...(loss !== undefined && { loss }),
      }),
    )
  }
  print(`\n${plotRewards(rewards).join('\n')}\n`)
  return { rewards, servedName: model.servedName }
}

async function rollOut(client: TrainyardClient, model: string, task: Task): Promise<Rollout> {
  const groups = await Promise.all(
    task.prompts.map(async (prompt) => {
      const question = describeQuestion(task, prompt)
      const choices = await client.sample(model, question, samplesPerPrompt)
      return { trajectories: choices.map((choice) => scoreChoice(question, choice, task)) }
    }),
  )
  const all = groups.flatMap((group) => group.trajectories)
  const reward = all.reduce((sum, trajectory) => sum + trajectory.reward, 0) / all.length
  return { groups, reward, sample: answerOf(all[0]?.messages_and_choices.at(-1) as Choice) }
}

function scoreChoice(question: Question, choice: Choice, task: Task): TrajectoryGroup['trajectories'][number] {
  const { messages, ...rest } = question
  return { messages_and_choices: [...messages, choice], ...rest, reward: task.reward(choice) }
}

function answerOf({ message }: Choice): string {
  const calls = (message.tool_calls ?? []).map((call) => `${call.function.name}(${call.function.arguments})`)
  return [message.content, ...calls].filter(Boolean).join(' ')
}

/** Runs one training job. Returns the mean loss over its gradient steps. */
async function trainOnce(client: TrainyardClient, modelId: string, groups: TrajectoryGroup[]): Promise<number> {
  const losses: number[] = []
  const jobId = await client.train(modelId, groups, learningRate)
  await client.follow(jobId, (event) => {
    if (event.type === 'gradient_step') losses.push(Number(event.data.loss))
  })
  return losses.reduce((sum, loss) => sum + loss, 0) / Math.max(1, losses.length)
}
