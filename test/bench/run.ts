import { benchApi } from './api.ts'
import { benchIngest } from './ingest.ts'
import { printResult, type BenchResult } from './result.ts'
import { benchTrainer } from './trainer.ts'

const benches: Record<string, () => Promise<BenchResult>> = {
  api: benchApi,
  ingest: benchIngest,
  trainer: benchTrainer,
}

const name = process.argv[2] ?? ''
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) printResult(name, await bench())
else {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(benches).join('|')}\n`)
  process.exitCode = 1
}
