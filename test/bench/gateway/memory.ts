import { setTimeout as delay } from 'node:timers/promises'
import type { Contestant } from './contestants/contestant.ts'
import type { LoadClient } from './load.ts'
import { readMemoryMb } from './processor.ts'
import type { Size } from './sizes.ts'
import { buildChat, slowStream } from './workloads.ts'

/** Resident memory in megabytes, without Postgres. */
export interface Memory {
  idleMb: number
  withStreamsMb: number
}

/** Measures a contestant's memory before, and with open streams that each have an event every two seconds. */
export async function measureMemory(client: LoadClient, contestant: Contestant, size: Size): Promise<Memory> {
  const { host, port, apiKey, models } = contestant
  const read = () => readMemoryMb(contestant.listProcesses().own)
  const idleMb = read()
  const target = { host, port, apiKey, bodies: [buildChat(models[0]!, slowStream).toString()] }
  await client.run({ kind: 'hold', target, count: size.openStreams })
  await delay(size.openMs)
  const withStreamsMb = read()
  await client.run({ kind: 'release' })
  return { idleMb, withStreamsMb }
}
