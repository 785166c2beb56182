import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import type { LocalConfig } from '../config.ts'
import type { Installation } from '../install/install.ts'
import type { Phase } from '../terminal/board.ts'
import { prepareCertificates } from './programs/certificates.ts'
import { writeCredentials } from './programs/credentials.ts'
import { replaceJson } from './json-file.ts'
import { layoutOf, type Layout } from './layout.ts'
import { writeNodeAgentConfig } from './programs/node-agent-config.ts'
import { preparePostgres } from './programs/postgres.ts'
import { buildPrograms } from './programs/programs.ts'
import { prepareSettings, type StackSettings } from './settings.ts'
import { describeSlot } from './network/slots.ts'

/** The options of a start. */
export interface StartRequest {
  config: LocalConfig
  installation: Installation
  stateFolder: string
  /** The public port. 0 means any free port. Undefined means the last one, and 8080 for a new stack. */
  port: number | undefined
  /** false: data need not survive a power cut (tests). */
  durable?: boolean
  phase: Phase
  signal: AbortSignal
}

/** Writes all files that the supervisor needs to the state folder. Data of an earlier start stays. */
export async function prepareStack(request: StartRequest): Promise<StackSettings> {
  const { config, installation, stateFolder, port, durable = true, phase, signal } = request
  const layout = layoutOf(stateFolder)
  makeFolders(layout)
  const settings = await prepareSettings({ cacheFolder: config.cacheFolder, stateFolder, port })
  phase.update('preparing the database')
  await preparePostgres(layout.postgres, settings, signal)
  phase.update('preparing keys and certificates')
  await prepareCertificates({
    layout,
    helm: installation.controlPlane.helm,
    chart: path.join(config.repository, 'local', 'certificates'),
    // Pods would use the second address.
    addresses: ['127.0.0.1', `${describeSlot(settings.slot).serviceNetwork}.0.1`],
    signal,
  })
  writeCredentials(layout, settings)
  writeNodeAgentConfig(layout, settings, request)
  replaceJson(layout.programs, await buildPrograms({ layout, settings, config, installation, durable }))
  return settings
}

function makeFolders(layout: Layout): void {
  // Postgres may run as another user, who must be able to enter this folder.
  mkdirSync(layout.root, { recursive: true, mode: 0o755 })
  // Training data must not be readable for other users of the machine.
  for (const folder of [layout.artifacts, layout.secrets, layout.etcd]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // mkdir does not change the mode of an existing folder.
    chmodSync(folder, 0o700)
  }
}
