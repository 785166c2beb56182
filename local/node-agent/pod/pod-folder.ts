import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { writeAtomically } from '../durable-file.ts'

/** The identity of a pod: enough to stop it and to read its logs after its object is gone. */
export interface PodIdentity {
  uid: string
  namespace: string
  name: string
}

/** The folder of all pods: STATE/pods/UID. */
export function podsFolder(stateDir: string): string {
  return path.join(stateDir, 'pods')
}

/**
 * A pod's folder: `identity.json`, `volumes/NAME/`, and `containers/NAME/N/` for each run N of a container. The folder
 * and the pod's object contain all that a new agent needs to continue.
 */
export class PodFolder {
  readonly root: string

  constructor(stateDir: string, uid: string) {
    this.root = path.join(podsFolder(stateDir), uid)
  }

  async create(identity: PodIdentity): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 })
    await writeAtomically(path.join(this.root, 'identity.json'), JSON.stringify(identity))
  }

  volume(name: string): string {
    return path.join(this.root, 'volumes', name)
  }

  container(name: string): string {
    return path.join(this.root, 'containers', name)
  }

  /** The names of the containers that have ever run. */
  async listContainers(): Promise<string[]> {
    return readdir(path.join(this.root, 'containers')).catch(() => [])
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true, maxRetries: 3 })
  }
}

/**
 * The pods that have a folder. A pod without a readable identity never started anything. Its uid is the folder's name.
 */
export async function listPodFolders(stateDir: string): Promise<PodIdentity[]> {
  const uids = await readdir(podsFolder(stateDir)).catch(() => [])
  return Promise.all(uids.map((uid) => readIdentity(stateDir, uid)))
}

async function readIdentity(stateDir: string, uid: string): Promise<PodIdentity> {
  try {
    const text = await readFile(path.join(podsFolder(stateDir), uid, 'identity.json'), 'utf8')
    return JSON.parse(text) as PodIdentity
  } catch {
    return { uid, namespace: '', name: '' }
  }
}
