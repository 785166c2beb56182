import { Type, type Static } from 'typebox'
import { readConfig } from '../../lib/config.ts'

/** How long a process takes at most to close what it has open, after its last response. */
export const closeMs = 5_000

/** What the supervisor knows of the configuration, too. */
export const processSettings = {
  // How many of them share the port, the limits and the cores of a replica.
  TRAINYARD_PROCESSES: Type.Integer({ minimum: 1, maximum: 64, default: 1 }),
  // How long responses may go on after SIGTERM.
  TRAINYARD_DRAIN_SECONDS: Type.Integer({ minimum: 1, maximum: 3_600, default: 8 }),
  LOG_LEVEL: Type.String({ default: 'info' }),
}

const schema = Type.Object(processSettings)

export type ProcessConfig = Readonly<Static<typeof schema>>

/** Reads it from the environment. The rest is read by the processes that answer. */
export function loadProcessConfig(): ProcessConfig {
  return readConfig(schema, process.env)
}
