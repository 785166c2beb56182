import { parseArgs } from 'node:util'
import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { TrainyardClient } from './demo/client.ts'
import { describeNextSteps } from './demo/next-steps.ts'
import { tasks, type Task } from './demo/rewards.ts'
import { runMainJob } from './demo/run.ts'
import { UserError } from './user-error.ts'
import { describeConsole } from './stack/console-link.ts'
import { ensureUp } from './stack/ensure-up.ts'
import { layoutOf } from './stack/layout.ts'
import { Board } from './terminal/board.ts'

/** `npm run demo [-- --reward NAME] [-- --steps N]`: brings the stack up and runs the main job in the terminal. */
await runCommand(async (signal) => {
  const { task, steps } = readArguments(process.argv.slice(2))
  const config = readLocalConfig()
  const { env, installation } = await ensureUp(config, new Board(), signal)
  const client = new TrainyardClient(env.TRAINYARD_URL, env.TRAINYARD_API_KEY, signal)
  const print = (line: string) => process.stdout.write(`${line}\n`)
  print('')
  const { rewards, servedName } = await runMainJob(client, { task, steps, baseModel: env.TRAINYARD_BASE_MODEL, print })

  const first = rewards[0] ?? 0
  const last = rewards.slice(-3).reduce((sum, reward) => sum + reward, 0) / 3
  print(`mean reward: ${first.toFixed(3)} at first, ${last.toFixed(3)} over the last three steps`)
  const { kubectl } = installation.controlPlane
  print(describeNextSteps({ env, envFile: layoutOf(config.stateFolder).env, kubectl, servedName, task }))
  print(await describeConsole(config.stateFolder, env))
  const { promisedRise } = task
  if (last - first < promisedRise) throw new UserError(`The mean reward did not rise by ${promisedRise}.`)
})

function readArguments(args: string[]): { task: Task; steps: number } {
  const names = tasks.map((task) => task.name).join('|')
  const usage = `usage: npm run demo -- [--reward ${names}] [--steps N], with N from 3 to 100`
  const { values } = parse(args, usage)
  const task = tasks.find((each) => each.name === values.reward)
  const steps = Number(values.steps)
  if (!task || !Number.isInteger(steps) || steps < 3 || steps > 100) throw new UserError(usage)
  return { task, steps }
}

function parse(args: string[], usage: string) {
  try {
    const options = {
      reward: { type: 'string', default: 'warm' },
      steps: { type: 'string', default: '12' },
    } as const
    return parseArgs({ args, options })
  } catch (cause) {
    throw new UserError(`${(cause as Error).message}\n${usage}`, { cause })
  }
}
