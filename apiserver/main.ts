import cluster from 'node:cluster'
import { loadProcessConfig } from './processes/config.ts'

// Only the needed part is loaded, so that the supervisor stays small.
const processConfig = loadProcessConfig()
if (processConfig.TRAINYARD_PROCESSES > 1 && cluster.isPrimary) {
  const { superviseProcesses } = await import('./processes/supervise.ts')
  superviseProcesses(processConfig)
} else {
  const { run } = await import('./run.ts')
  await run()
}
