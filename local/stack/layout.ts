import path from 'node:path'

/** The paths of a stack's parts in its state folder. */
export function layoutOf(stateFolder: string) {
  const at = (...parts: string[]) => path.join(stateFolder, ...parts)
  return {
    root: stateFolder,
    settings: at('stack.json'),
    programs: at('programs.json'),
    supervisor: at('supervisor.json'),
    env: at('env'),
    kubeconfig: at('kubeconfig'),
    values: at('values.yaml'),
    nodeAgent: at('node-agent.json'),
    logs: at('logs'),
    artifacts: at('artifacts'),
    /** The node agent's own files: volumes, logs of containers. */
    node: at('node'),
    /** Keys and tokens, readable by the owner only. */
    secrets: at('secrets'),
    certificates: at('secrets', 'certificates'),
    /** The working directory of etcd and kube-apiserver. They communicate over a Unix socket in it. */
    etcd: at('etcd'),
    postgres: at('postgres'),
  }
}

export type Layout = ReturnType<typeof layoutOf>
