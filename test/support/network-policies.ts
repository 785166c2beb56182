/** The members of a NetworkPolicy that tests read. */
export interface NetworkPolicySpec {
  podSelector: Selector
  policyTypes: string[]
  ingress?: { from?: Peer[]; ports?: Port[] }[] | null
  egress?: { to?: Peer[]; ports?: Port[] }[] | null
}

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values: string[] }[]
}

interface Peer {
  podSelector?: Selector
  namespaceSelector?: Selector
  ipBlock?: { cidr: string; except?: string[] }
}

interface Port {
  port?: number | string
}

/** A pod of the policies' namespace. */
export interface PolicedPod {
  labels: Record<string, string>
  /** The numbers of the containers' ports, by name. */
  ports: Record<string, number>
}

/** The policies of a namespace, as a network plugin applies them. */
export class NetworkPolicies {
  readonly #policies: readonly NetworkPolicySpec[]

  constructor(policies: readonly NetworkPolicySpec[]) {
    this.#policies = policies
  }

  /** Whether connections from and to the pod need a rule. */
  isIsolated(pod: PolicedPod): boolean {
    return this.#isBounded(pod, 'ingress') && this.#isBounded(pod, 'egress')
  }

  /** Whether a pod of the namespace may open a connection to a port of another one. */
  mayConnect(from: PolicedPod, to: PolicedPod, port: string): boolean {
    return this.#lets(from, 'egress', to, to, port) && this.#lets(to, 'ingress', from, to, port)
  }

  /** Which namespaces may open connections to the pod's port from outside; `*` if everybody may. */
  listOutsiders(pod: PolicedPod, port: string): string[] {
    const rules = this.#rulesOf(pod, 'ingress').filter(({ ports }) => hasPort(ports, pod, port))
    return rules.flatMap(({ peers }) =>
      peers.length === 0 ? ['*'] : peers.flatMap(({ namespaceSelector }) => listNamespaces(namespaceSelector)),
    )
  }

  /** The address blocks outside of the cluster that the pod may connect to, with the ports. No port is any. */
  listBlocks(pod: PolicedPod): { cidr: string; except: string[]; ports: unknown[] }[] {
    return this.#rulesOf(pod, 'egress').flatMap(({ peers, ports }) =>
      peers.flatMap(({ ipBlock }) =>
        ipBlock
          ? [{ cidr: ipBlock.cidr, except: ipBlock.except ?? [], ports: (ports ?? []).map((each) => each.port) }]
          : [],
      ),
    )
  }

  #isBounded(pod: PolicedPod, direction: 'ingress' | 'egress'): boolean {
    return this.#policiesOf(pod).some(({ policyTypes }) => policyTypes.some((type) => type.toLowerCase() === direction))
  }

  #lets(pod: PolicedPod, direction: 'ingress' | 'egress', peer: PolicedPod, target: PolicedPod, port: string): boolean {
    if (!this.#isBounded(pod, direction)) return true
    return this.#rulesOf(pod, direction).some(
      ({ peers, ports }) =>
        hasPort(ports, target, port) &&
        (peers.length === 0 ||
          peers.some((each) => each.podSelector && !each.namespaceSelector && selects(each.podSelector, peer))),
    )
  }

  #rulesOf(pod: PolicedPod, direction: 'ingress' | 'egress'): { peers: Peer[]; ports: Port[] | undefined }[] {
    const policies = this.#policiesOf(pod)
    return direction === 'ingress'
      ? policies.flatMap(({ ingress }) => ingress ?? []).map(({ from, ports }) => ({ peers: from ?? [], ports }))
      : policies.flatMap(({ egress }) => egress ?? []).map(({ to, ports }) => ({ peers: to ?? [], ports }))
  }

  #policiesOf(pod: PolicedPod): NetworkPolicySpec[] {
    return this.#policies.filter(({ podSelector }) => selects(podSelector, pod))
  }
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, { labels }: PolicedPod): boolean {
  const hasLabels = Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
  return hasLabels && matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
}

function listNamespaces(selector: Selector | undefined): string[] {
  return (selector?.matchExpressions ?? []).flatMap(({ values }) => values)
}

function hasPort(ports: Port[] | undefined, pod: PolicedPod, name: string): boolean {
  return ports === undefined || ports.some(({ port }) => port === name || port === pod.ports[name])
}
