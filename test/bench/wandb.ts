import { parseArgs } from 'node:util'
import { bringUpStack } from '../support/global-setup.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import type { BenchResult } from './result.ts'
import { measureArtifacts, type ArtifactOptions } from './wandb/artifacts.ts'
import { measureRuns } from './wandb/runs.ts'

const goals = [
  ['upload_to_plain_put', 'at least 0.7'],
  ['download_to_plain_get', 'at least 0.7'],
  ['memory_rise_mb', 'flat: at most 100'],
  ['lost_lines', '0'],
  ['paced_lines_per_s', '1,000 from 20 runs'],
  ['wide_run_keys', '10,000'],
] as const

/**
 * Artifacts and runs of the wandb SDK, on the wire that it speaks. The store is an S3 server. `--megabytes` and `--rounds`
 * make it shorter.
 */
export async function benchWandb(args: string[]): Promise<BenchResult> {
  const options = readOptions(args)
  const { handle, tearDown } = await bringUpStack(false)
  const s3 = await startS3Server()
  Object.assign(process.env, s3.credentials)
  const env = {
    TRAINYARD_ARTIFACTS: `s3://${s3.bucket}/trainyard`,
    TRAINYARD_S3_ENDPOINT: s3.endpoint,
    ...s3.credentials,
  }
  try {
    return await withBenchServer(handle, (server) => measure(server, s3, options), { env })
  } finally {
    await s3.stop()
    await tearDown()
  }
}

function readOptions(args: string[]): ArtifactOptions {
  const options = { megabytes: { type: 'string', default: '1024' }, rounds: { type: 'string', default: '3' } } as const
  const { values } = parseArgs({ args, options })
  return { megabytes: Number(values.megabytes), rounds: Number(values.rounds) }
}

async function measure(server: BenchServer, s3: S3Server, options: ArtifactOptions): Promise<BenchResult> {
  const runs = await measureRuns(server)
  const artifacts = await measureArtifacts(server, s3, options)
  const result = {
    ratios: { ...artifacts.ratios, ...runs.ratios },
    figures: { ...artifacts.figures, ...runs.figures },
  }
  const measured: Record<string, number> = { ...result.ratios, ...result.figures }
  for (const [name, goal] of goals) process.stdout.write(`${name}: ${measured[name]} (goal: ${goal})\n`)
  return result
}
