import { describeError } from '../../local/command.ts'
import { consoleBench } from './console.ts'
import { gateway } from './gateway.ts'
import { ingest } from './ingest.ts'
import { operator } from './operator.ts'
import { serving } from './serving.ts'
import { trainerGpu } from './trainer-gpu.ts'
import { tracing } from './tracing.ts'
import { trainerBench } from './trainer.ts'
import { wandb } from './wandb.ts'

const benches: Record<string, (name: string, args: string[]) => Promise<void>> = {
  console: consoleBench,
  gateway,
  ingest,
  operator,
  serving,
  tracing,
  trainer: trainerBench,
  'trainer-gpu': trainerGpu,
  wandb,
}

const [name = '', ...args] = process.argv.slice(2)
try {
  if (!Object.hasOwn(benches, name)) throw new Error(`usage: npm run bench -- ${Object.keys(benches).join('|')}`)
  await benches[name]!(name, args)
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`)
  process.exitCode = 1
}
