import { buffer } from 'node:stream/consumers'
import { ArtifactMissing } from '../../lib/artifact-store/missing.ts'
import type { ArtifactStore } from '../../lib/artifact-store/store.ts'

/** What stands in an artifact store about its owner. */
export interface StoreSign {
  /** of the installation */
  installation: string
  /** what the installation wrote there last: a copy of its database does not know it */
  mark: string
}

const key = 'installation.json'
// Of what else may stand there one day; ours is much shorter.
const mostBytes = 65_536
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The sign of a store; undefined where there is none, null where nobody can read it. */
export async function readSign(artifacts: ArtifactStore): Promise<StoreSign | null | undefined> {
  try {
    return parseSign((await buffer(await artifacts.open(key, { start: 0, end: mostBytes }))).toString())
  } catch (error) {
    if (error instanceof ArtifactMissing) return undefined
    throw error
  }
}

export async function writeSign(artifacts: ArtifactStore, sign: StoreSign): Promise<void> {
  await artifacts.put(key, Buffer.from(`${JSON.stringify(sign)}\n`))
}

function parseSign(text: string): StoreSign | null {
  try {
    const { installation, mark } = JSON.parse(text) as Record<string, unknown>
    const isSign = typeof installation === 'string' && typeof mark === 'string' && uuid.test(mark)
    return isSign ? { installation, mark } : null
  } catch {
    return null
  }
}
