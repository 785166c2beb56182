import cluster from 'node:cluster'
import { loadProcessConfig } from './processes/config.ts'

// Only the needed part is loaded, so that the supervisor stays small.
const config = loadProcessConfig()
if (config.TRAINYARD_PROCESSES > 1 && cluster.isPrimary) {
  const { superviseProcesses } = await import('./processes/supervise.ts')
  superviseProcesses(config)
} else {
  const { run } = await import('./run.ts')
  await run()
}
