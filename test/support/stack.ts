import { inject } from 'vitest'
import type { StackHandle } from './global-setup.ts'
import { applyWithKubectl, runKubectl } from './run-kubectl.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    stack: StackHandle
  }
}

/** The running stack that all integration and client tests share, with `kubectl` for it. */
export interface Stack extends StackHandle {
  /** Runs kubectl and returns its standard output. @throws when it exits non-zero, with its standard error */
  kubectl: (...args: string[]) => Promise<string>
  /** Runs `kubectl apply -f -` on one object, with more options. */
  apply: (object: object, ...options: string[]) => Promise<string>
}

/** The stack of this test run. Call it in a test file. */
export function useStack(): Stack {
  const handle = inject('stack')
  const kubectl = (...args: string[]) => runKubectl(handle, args)
  const apply = (object: object, ...options: string[]) => applyWithKubectl(handle, object, ...options)
  return { ...handle, kubectl, apply }
}
