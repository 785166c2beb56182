import cluster from 'node:cluster'
import { loadProcessConfig } from './processes/config.ts'

// What one of the two does not need is not loaded: the supervisor is small.
const config = loadProcessConfig()
if (config.TRAINYARD_PROCESSES > 1 && cluster.isPrimary) {
  const { superviseProcesses } = await import('./processes/supervise.ts')
  superviseProcesses(config)
} else {
  await import('./serve.ts')
}
