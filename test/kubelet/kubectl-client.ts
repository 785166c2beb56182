import { apiVersion } from '../../crds/names.ts'
import type { StoredArtifact } from '../../artifacts/store/store.ts'
import { runChild } from '../../local/install/run-child.ts'
import { TrainyardClient, type TrajectoryGroup } from '../../local/demo/client.ts'
import type { KubeNode } from '../support/kubelet/node.ts'
import { namespace } from '../support/kubelet/release.ts'

// Runs in a pod of the apiserver, which has the store mounted.
const putProgram = `
import { buffer } from 'node:stream/consumers'
import { FolderStore } from '/app/artifacts/store/folder-store.ts'
import { putPayload } from '/app/artifacts/store/payloads.ts'
const stored = await putPayload(new FolderStore('/artifacts'), process.argv[1], await buffer(process.stdin))
process.stdout.write(JSON.stringify(stored))
`

/** A client that samples over REST, and makes models and jobs with kubectl. */
export class KubectlClient extends TrainyardClient {
  readonly #node: KubeNode
  readonly #kubectl: string
  #jobs = 0

  constructor(node: KubeNode, { url, key, kubectl }: { url: string; key: string; kubectl: string }) {
    super(url, key)
    this.#node = node
    this.#kubectl = kubectl
  }

  override async registerModel(project: string, name: string): Promise<{ id: string; servedName: string }> {
    const spec = { entity: 'team', project, name, baseModelRef: { name: 'tiny-chat' } }
    await this.#node.apply({ apiVersion, kind: 'Model', metadata: { name, namespace }, spec })
    await this.#node.kubectl('wait', '-n', namespace, '--for=condition=Accepted', `models.trainyard.dev/${name}`)
    return { id: name, servedName: `wandb-artifact:///team/${project}/${name}` }
  }

  override async train(model: string, groups: TrajectoryGroup[], learningRate: number): Promise<string> {
    const name = `${model}-${++this.#jobs}`
    const { uri, digest } = await this.#put({ trajectory_groups: groups })
    const spec = { modelRef: { name: model }, method: 'RL', inputRef: { uri, digest }, config: { learningRate } }
    await this.#node.apply({ apiVersion, kind: 'TrainingJob', metadata: { name, namespace }, spec })
    return name
  }

  override async follow(job: string): Promise<void> {
    await this.#node.kubectl('wait', '-n', namespace, '--for=condition=Complete', `tj/${job}`, '--timeout=10m')
  }

  /** Stores the input of a job. */
  async #put(payload: object): Promise<StoredArtifact> {
    const command = ['node', '--input-type=module', '--eval', putProgram, 'team']
    const args = ['exec', '-i', '-n', namespace, 'deploy/trainyard-apiserver', '--', ...command]
    const env = { ...process.env, KUBECONFIG: this.#node.kubeconfig }
    const { code, stdout, tail } = await runChild(this.#kubectl, args, { env, input: JSON.stringify(payload) })
    if (code !== 0) throw new Error(`the payload cannot be stored: ${tail}`)
    return JSON.parse(stdout) as StoredArtifact
  }
}
