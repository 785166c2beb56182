import { parseArgs } from 'node:util'
import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { UserError } from './user-error.ts'
import { describeConsole } from './stack/console-link.ts'
import { ensureUp, type RunningStack } from './stack/ensure-up.ts'
import { layoutOf } from './stack/layout.ts'
import { Board } from './terminal/board.ts'

/** `npm run up [-- --port N]`: brings the stack up and returns when all of it works. */
await runCommand(async (signal) => {
  const config = readLocalConfig()
  const asked = readPort(process.argv.slice(2))
  const stack = await ensureUp({ ...config, port: asked ?? config.port }, new Board(), signal)
  process.stdout.write(`${describeStack(stack, layoutOf(config.stateFolder).env)}\n`)
  process.stdout.write(`${await describeConsole(config.stateFolder, stack.env)}\n`)
})

function readPort(args: string[]): number | undefined {
  try {
    const { values } = parseArgs({ args, options: { port: { type: 'string' } } })
    return values.port === undefined ? undefined : Number(values.port)
  } catch (cause) {
    throw new UserError(`${(cause as Error).message}\nusage: npm run up [-- --port N]`, { cause })
  }
}

function describeStack({ env, installation, found }: RunningStack, envFile: string): string {
  return [
    `Trainyard is ${found ? 'already ' : ''}up at ${env.TRAINYARD_URL}`,
    `  its key and addresses  ${envFile}`,
    `  what runs in it        KUBECONFIG=${env.KUBECONFIG} ${installation.controlPlane.kubectl} get pods`,
    '  stop it, keep its data npm run down',
    ...(found ? ['It runs the code that it was started with. For newer code: npm run down, then npm run up'] : []),
  ].join('\n')
}
