import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describeListener } from '../preflight/ports.mjs'
import {
  defaultPort,
  describeBadPort,
  describeTakenPodPort,
  describeTakenPort,
  isServicePort,
  podPorts,
} from '../preflight/requirements.mjs'
import { UserError } from '../user-error.ts'
import { readJson, replaceJson } from './json-file.ts'
import { layoutOf } from './layout.ts'
import { hasListenerIn, isPortFree, pickPort } from './network/ports.ts'
import { claimSlot, describeSlot, type Slot } from './network/slots.ts'

/** What a stack keeps between starts: its addresses and its secrets. */
export interface StackSettings {
  slot: number
  ports: { public: number; kubernetes: number; kubelet: number; postgres: number }
  secrets: {
    admin: string
    controllerManager: string
    scheduler: string
    node: string
    postgres: string
    engineKey: string
    webhookKey: string
  }
}

export interface SettingsRequest {
  cacheFolder: string
  stateFolder: string
  /** The public port. 0 means the slot's own. Undefined means the last one, and 8080 for a new stack. */
  port: number | undefined
}

export function readSettings(stateFolder: string): StackSettings | undefined {
  return readJson<StackSettings>(layoutOf(stateFolder).settings)
}

/**
 * Chooses the stack's addresses before a start, and stores them. Internal ports move when another program uses them.
 * The public port does not.
 *
 * @throws {Problem} when the public port is in use
 */
export async function prepareSettings({ cacheFolder, stateFolder, port }: SettingsRequest): Promise<StackSettings> {
  const earlier = readSettings(stateFolder)
  const slot = earlier?.slot ?? (await claimSlot(cacheFolder, stateFolder, { isInUse: existsSync }))
  const wanted = earlier?.ports ?? describeSlot(slot).ports
  const publicPort = port || (port === 0 ? wanted.public : (earlier?.ports.public ?? defaultPort))
  await requireFreePort(publicPort)
  await requireNetworks(describeSlot(slot), stateFolder)
  const spare = 30_000
  const kubernetes = await pickPort(wanted.kubernetes, spare)
  const kubelet = await pickPort(wanted.kubelet, Math.max(spare, kubernetes) + 1)
  const postgres = await pickPort(wanted.postgres, Math.max(spare, kubelet) + 1)
  const ports = { public: publicPort, kubernetes, kubelet, postgres }
  const settings = { slot, ports, secrets: { ...makeSecrets(), ...earlier?.secrets } }
  replaceJson(layoutOf(stateFolder).settings, settings)
  return settings
}

/** @throws {Problem} that names the program on the port, and what to do */
export async function requireFreePort(port: number): Promise<void> {
  if (!isServicePort(port)) throw new UserError(describeBadPort(port))
  if (!(await isPortFree(port))) throw new UserError(describeTakenPort(port, describeListener(port)))
}

/** @throws {Problem} when another program listens in the networks of Services or pods */
async function requireNetworks({ serviceNetwork, podNetwork }: Slot, stateFolder: string): Promise<void> {
  if (hasListenerIn(serviceNetwork) || hasListenerIn(podNetwork)) {
    throw new UserError(
      `Another stack uses the addresses ${serviceNetwork}.* and ${podNetwork}.* of this stack. Stop the other stack, or ` +
        `set TRAINYARD_STATE to another state folder (this one is ${stateFolder}).`,
    )
  }
  for (const port of podPorts) {
    if (await isPortFree(port, `${podNetwork}.255.254`)) continue
    throw new UserError(describeTakenPodPort(port, describeListener(port)))
  }
}

function makeSecrets(): StackSettings['secrets'] {
  const secret = () => randomBytes(24).toString('base64url')
  return {
    admin: secret(),
    controllerManager: secret(),
    scheduler: secret(),
    node: secret(),
    postgres: secret(),
    engineKey: secret(),
    webhookKey: secret(),
  }
}
