import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    services: Services
  }
}

/** What an apiserver needs. In the projects `db` and `api`, nothing answers at the address of Kubernetes. */
export interface Services {
  databaseUrl: string
  /** Folder of the artifact store. */
  artifacts: string
  kubeconfig: string
}

/** An API server with what it needs. */
export interface ApiStack extends Services {
  url: string
  apiKey: string
  baseModel: string
}

/** The services of this test run. Call it in a test file. */
export const useServices = (): Services => inject('services')

/** A kubeconfig of no cluster: port 1 is closed, so that each request to Kubernetes fails at once. */
export const noKubernetes = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'none', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
})
