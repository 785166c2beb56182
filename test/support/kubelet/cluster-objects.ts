import { nodeName } from './addresses.ts'

/** A namespace in which no pod may have more rights than `restricted` allows. */
export function restrictedNamespace(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/** kube-apiserver may read logs from kubelet and run commands by it. */
export const kubeletClientRights = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'kubelet-client' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kube-apiserver-kubelet-client' }],
}

/** A volume on the node. Claims without a storage class get it, and kubelet gives it the group of the pod. */
export function localVolume(name: string, path: string): object {
  const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  }
}
