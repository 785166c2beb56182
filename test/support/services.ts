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
