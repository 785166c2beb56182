import { Type, type Static } from 'typebox'
import { readConfig } from '../../lib/config.ts'
import { metricsSettings } from '../../lib/metrics/metrics-server.ts'

/** How long a process may take to close everything after its last response. */
export const closeMs = 5_000

/** The settings that the supervisor reads too. */
export const processSettings = {
  TRAINYARD_HOST: Type.String(),
  ...metricsSettings,
  // The number of processes that share the port, the limits and the cores of a replica.
  TRAINYARD_PROCESSES: Type.Integer({ minimum: 1, maximum: 64, default: 1 }),
  // How long responses may continue after SIGTERM.
  TRAINYARD_DRAIN_SECONDS: Type.Integer({ minimum: 1, maximum: 3_600, default: 8 }),
  LOG_LEVEL: Type.String({ default: 'info' }),
}

const schema = Type.Object(processSettings)

export type ProcessConfig = Readonly<Static<typeof schema>>

/** Reads these settings from the environment. Each process reads the others. */
export function loadProcessConfig(): ProcessConfig {
  return readConfig(schema, process.env)
}
