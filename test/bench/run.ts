import { describeError } from '../../local/command.ts'
import { benchApi } from './api.ts'
import { benchConsole } from './console.ts'
import { benchGateway } from './gateway.ts'
import { benchIngest } from './ingest.ts'
import { benchOperator } from './operator.ts'
import { printResult, type BenchResult } from './result.ts'
import { benchServing } from './serving.ts'
import { benchTrainerGpu } from './trainer-gpu.ts'
import { benchTracing } from './tracing.ts'
import { benchTrainer } from './trainer.ts'
import { benchWandb } from './wandb.ts'

const benches: Record<string, (options: string[]) => Promise<BenchResult>> = {
  api: benchApi,
  console: benchConsole,
  gateway: benchGateway,
  ingest: benchIngest,
  operator: benchOperator,
  serving: benchServing,
  tracing: benchTracing,
  trainer: benchTrainer,
  'trainer-gpu': benchTrainerGpu,
  wandb: benchWandb,
}

const name = process.argv[2] ?? ''
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) await run(bench)
else {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(benches).join('|')}\n`)
  process.exitCode = 1
}

async function run(measure: (options: string[]) => Promise<BenchResult>): Promise<void> {
  try {
    printResult(name, await measure(process.argv.slice(3)))
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`)
    process.exitCode = 1
  }
}
