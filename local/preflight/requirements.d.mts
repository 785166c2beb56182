// Of requirements.mjs, what TypeScript uses.

export const podPorts: readonly number[]
export const defaultPort: number
export const pythonCommands: readonly string[]
export const pythonProbe: string

/** How a program ended, and what it wrote. */
export interface ProgramOutput {
  code: number
  stdout: string
  stderr: string
}

/** The version of a Python that serves, or why it does not serve. */
export function judgePython(
  command: string,
  output: ProgramOutput,
  minors?: readonly number[],
): { version?: string; error?: string }
export function describeMissingPython(errors: readonly string[]): string

export const programs: readonly [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'helm',
]
export const releaseOrigins: Readonly<Record<'kubernetes' | 'etcd' | 'helm', string>>
export const minGoMinor: number
export const controlPlaneAdvice: string
export function digestModules(goMod: string, goSum: string): string

export function describeTakenPort(port: number, holder: string | undefined): string
export function isServicePort(port: number): boolean
export function describeBadPort(port: number): string
export function describeTakenPodPort(port: number, holder: string | undefined): string
export const noUnprivilegedUser: string
export function describeUnreachable(file: string): string
